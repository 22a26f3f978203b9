-- list_live_attempts: everything the agent of a host needs to start, adopt or stop its attempts
-- in     $1 host
-- out    a row for each member of an attempt, by rank
select attempt.job_id, attempt.attempt, attempt.fence, attempt.resumed_from, attempt.exit_kind,
       attempt.exit_status, attempt.message, attempt.created_at, attempt.started_at,
       attempt.ended_at,
       member.rank, member.host, member.cores, member.pid, member.start_ticks,
       member.frames_relayed, member.rendezvous, member.exited_at,
       member.outcome,
       job.project, job.state, job.intent, job.spec, job.kind, job.payload, job.restarts,
       job.restarts_max, job.crash_key, job.saves_requested, job.traceparent,
       dataset.id as dataset_id, dataset.name as dataset_name, dataset.format as dataset_format,
       dataset.source as dataset_source, dataset.options as dataset_options,
       dataset.content_hash as dataset_content_hash,
       coalesce(newest.id, origin.id) as checkpoint_id,
       coalesce(newest.name, origin.name) as checkpoint_name,
       case when newest.id is null then origin.job_id else job.id end as checkpoint_job_id,
       held.lease_expired,
       exists (select
               from watched
               where subject in (job.id, job.parent_id, 'project ' || job.project, '*')
                 and until > clock_timestamp()) as is_watched
from (select job_id, attempt, max(expires_at) <= clock_timestamp() as lease_expired
      from newest_slots($1)
      where job_id is not null
      group by job_id, attempt) as held
-- By the index, whatever the plan that is kept has assumed of the number of attempts.
cross join lateral (select *
                    from attempt
                    where job_id = held.job_id and attempt = held.attempt and ended_at is null
                    offset 0) as attempt
join attempt_member as member
  on member.job_id = attempt.job_id and member.attempt = attempt.attempt
join job on job.id = attempt.job_id
left join dataset on dataset.id = job.dataset_id
left join lateral (
    select id, name
    from checkpoint
    where checkpoint.job_id = attempt.job_id and deleted_at is null
    order by step desc, created_at desc
    limit 1
) as newest on true
left join checkpoint as origin on origin.id = job.continues_from and origin.deleted_at is null
order by attempt.created_at, attempt.job_id, member.rank

-- list_attempts: the newest attempts of a job, first to last
-- in     $1 job_id  $2 those before this attempt, or null: all  $3 at most so many
-- out    a row for each member of an attempt, by rank
select job_id, attempt, fence, resumed_from, exit_kind, exit_status, message, created_at,
       started_at, newest.ended_at, rank, host, cores, pid, start_ticks, frames_relayed, rendezvous,
       member.exited_at, outcome
from (
    select *
    from attempt
    where job_id = $1 and ($2::integer is null or attempt < $2)
    order by attempt desc
    limit $3
) as newest
join attempt_member as member using (job_id, attempt)
order by attempt, rank

-- list_slices: live attempts on several hosts, oldest first
-- in     $1 projects text[], or null: all
-- out    as list_attempts; project, job_name, state of the job
select job_id, attempt, fence, resumed_from, exit_kind, exit_status, message, attempt.created_at,
       attempt.started_at, attempt.ended_at, rank, host, member.cores, pid, start_ticks,
       frames_relayed, rendezvous, member.exited_at, outcome,
       job.project, job.name as job_name, job.state
from attempt
join attempt_member as member using (job_id, attempt)
join job on job.id = attempt.job_id
where attempt.ended_at is null
  and ($1::text[] is null or job.project = any ($1::text[]))
  and exists (select from attempt_member as other
              where other.job_id = attempt.job_id and other.attempt = attempt.attempt
                and other.rank = 1)
order by attempt.created_at, attempt.job_id, member.rank

-- offer_rendezvous: what the others need to connect to a member of a live attempt; the first offer
-- counts
-- in     $1 job_id  $2 attempt  $3 fence  $4 rank  $5 bytea
-- out    no row changed when the attempt is fenced
update attempt_member as member
set rendezvous = coalesce(rendezvous, $5::bytea)
from attempt
where attempt.job_id = $1 and attempt.attempt = $2 and attempt.fence = $3
  and attempt.ended_at is null
  and member.job_id = $1 and member.attempt = $2 and member.rank = $4

-- end_member: the process of a member is gone; the first end counts
-- in     $1 job_id  $2 attempt  $3 fence  $4 rank  $5 outcome
-- out    no row changed when the attempt is fenced
update attempt_member as member
set exited_at = coalesce(member.exited_at, clock_timestamp()),
    outcome   = coalesce(member.outcome, $5::jsonb)
from attempt
where attempt.job_id = $1 and attempt.attempt = $2 and attempt.fence = $3
  and attempt.ended_at is null
  and member.job_id = $1 and member.attempt = $2 and member.rank = $4

-- find_run_time: how long the attempts of a job have run together, by the database's clock
-- in     $1 job_id
-- out    seconds
select coalesce(sum(greatest(0, extract(epoch from coalesce(ended_at, clock_timestamp())
                                                   - started_at))), 0)::double precision as seconds
from attempt
where job_id = $1 and started_at is not null

-- record_process: the executor of a member of a live attempt
-- in     $1 job_id  $2 attempt  $3 fence  $4 rank  $5 pid  $6 start_ticks  $7 resumed_from
-- out    no row changed when the attempt is fenced
with live as (
    update attempt
    set resumed_from = $7,
        started_at   = coalesce(started_at, clock_timestamp())
    where job_id = $1 and attempt = $2 and fence = $3 and ended_at is null
    returning job_id, attempt
)
update attempt_member as member
set pid         = $5,
    start_ticks = $6
from live
where member.job_id = live.job_id and member.attempt = live.attempt and member.rank = $4

-- renew_leases: one heartbeat of a host, and its leases of the attempts it holds
-- in     $1 host  $2 job_ids text[]  $3 attempts integer[]  $4 fences text[]  $5 lease in seconds
-- out    job_id, attempt, fence of those it no longer holds
with held as (
    select *
    from unnest($2::text[], $3::integer[], $4::text[]) as held (job_id, attempt, fence)
), live as (
    select job_id, attempt
    from attempt
    join held using (job_id, attempt, fence)
    join attempt_member as member using (job_id, attempt)
    where member.host = $1 and attempt.ended_at is null
), renewed as (
    update core_slot as slot
    set expires_at = clock_timestamp() + make_interval(secs => $5)
    from live
    where slot.host = $1 and slot.job_id = any ($2::text[]) and slot.job_id = live.job_id and slot.attempt = live.attempt
), heartbeat as (
    update host
    set heartbeat_at = clock_timestamp()
    where name = $1
)
select job_id, attempt, fence
from held
where (job_id, attempt) not in (select job_id, attempt from live)

-- lock_attempts: those that are live with their fences
-- in     $1 job_ids text[]  $2 attempts integer[]  $3 fences text[]
-- out    those that are not have no row
-- locks  the jobs in the order of their ids, then the attempts
with asked as materialized (
    select *
    from unnest($1::text[], $2::integer[], $3::text[]) as asked (job_id, attempt, fence)
), locked as materialized (
    select job.id as job_id, job.state, job.restarts, job.restarts_max, job.crash_key, job.crashes,
           job.reason_code, job.reason_message
    from job
    where id = any ($1::text[])
    order by id
    for no key update
)
select locked.*, live.host
from locked
join asked using (job_id)
cross join lateral (select member.host
                    from attempt
                    join attempt_member as member using (job_id, attempt)
                    where job_id = asked.job_id and attempt = asked.attempt
                      and fence = asked.fence and attempt.ended_at is null and member.rank = 0
                    for no key update of attempt) as live

-- lock_silent_attempt: as lock_attempts, of one, but only while a lease is as it was seen
-- in     $1 job_id  $2 attempt  $3 fence  $4 host of the lease  $5 expires_at
-- out    as lock_attempts, a row for each lease
-- locks  the job, the attempt, its leases: a heartbeat waits or wins
select job.id as job_id, job.state, job.restarts, job.restarts_max, job.crash_key, job.crashes,
       job.reason_code, job.reason_message, member.host
from job
join attempt on attempt.job_id = job.id
join attempt_member as member
  on member.job_id = attempt.job_id and member.attempt = attempt.attempt and member.rank = 0
join lease on lease.job_id = attempt.job_id and lease.attempt = attempt.attempt
where job.id = $1 and attempt.attempt = $2 and attempt.fence = $3 and attempt.ended_at is null
  and lease.host = $4 and lease.expires_at = $5::timestamptz
for no key update of job, attempt, lease

-- list_leases: of live attempts. Each heartbeat of a host changes them.
-- out    a row for each attempt and host
select attempt.job_id, attempt.attempt, attempt.fence, lease.host,
       max(lease.expires_at) as expires_at
from newest_slots() as lease
join attempt on attempt.job_id = lease.job_id and attempt.attempt = lease.attempt
where attempt.ended_at is null
group by attempt.job_id, attempt.attempt, attempt.fence, lease.host
order by attempt.job_id, lease.host

-- end_attempts: closes the fences, frees the cores, counts what the attempts have used for their
-- projects, and moves the jobs to where they go; the triggers record it. One statement, so that at
-- its end each job and its attempt fit again.
-- in     arrays: $1 job_id  $2 attempt integer[]  $3 exit_kind  $4 exit_status or null integer[]
--        $5 message  $6 state of the job  $7 reason_code or null  $8 reason_message or null
--        $9 restarts to add integer[]  $10 back-off in seconds, 0 = none, double precision[]
--        $11 result or null  $12 crash_key or null  $13 crashes integer[]
--        $14 states passed before without saying so, as '{compiling,finishing}', or null
-- errors SW001 when the state machine has no such moves
with asked as materialized (
    select *
    from unnest($1::text[], $2::integer[], $3::text[], $4::integer[], $5::text[], $6::text[],
                $7::text[], $8::text[], $9::integer[], $10::double precision[], $11::text[],
                $12::text[], $13::integer[], $14::text[])
         as asked (job_id, attempt, exit_kind, exit_status, message, state, reason_code,
                   reason_message, restarts_added, back_off_s, result, crash_key, crashes, passed)
), ended as (
    update attempt
    -- The clock may have been set back since: an attempt ends after all that was written for it.
    set ended_at    = greatest(clock_timestamp(), attempt.created_at, attempt.started_at,
                               written.at),
        exit_kind   = asked.exit_kind,
        exit_status = asked.exit_status,
        message     = asked.message
    from asked
    cross join lateral (
        select greatest((select max(created_at) from checkpoint
                         where job_id = asked.job_id and checkpoint.attempt = asked.attempt),
                        (select max(written_at) from metric_chunk
                         where job_id = asked.job_id and metric_chunk.attempt = asked.attempt))
               as at) as written
    -- `any`: by their keys, whatever the plan that is kept has assumed of the number of rows.
    where attempt.job_id = any ($1::text[])
      and attempt.job_id = asked.job_id and attempt.attempt = asked.attempt
    returning attempt.job_id, attempt.created_at, attempt.ended_at
), freed as (
    update core_slot as slot
    set turn       = slot.turn + 1,
        job_id     = null,
        attempt    = null,
        leased_at  = null,
        expires_at = null
    from asked
    where slot.job_id = any ($1::text[]) and slot.job_id = asked.job_id and slot.attempt = asked.attempt
), settled as (
    update job
    set state          = asked.state,
        passed         = asked.passed::text[],
        reason_code    = asked.reason_code,
        reason_message = asked.reason_message,
        intent         = null,
        restarts       = restarts + asked.restarts_added,
        not_before     = case
                             when asked.back_off_s > 0
                             then clock_timestamp() + make_interval(secs => asked.back_off_s)
                         end,
        result         = coalesce(asked.result::jsonb, job.result),
        crash_key      = asked.crash_key,
        crashes        = asked.crashes
    from asked
    where job.id = any ($1::text[]) and job.id = asked.job_id
    returning job.id, job.project, job.cores
)
insert into project_usage (project, core_seconds, at)
select settled.project,
       sum(settled.cores * greatest(0, extract(epoch from ended.ended_at - ended.created_at))),
       max(ended.ended_at)
from ended
join settled on settled.id = ended.job_id
group by settled.project
