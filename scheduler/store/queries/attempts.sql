-- list_live_attempts: everything the agent of a host needs to start, adopt or stop its attempts
-- in     $1 host
-- out    a row for each member of an attempt, by rank
select attempt.job_id, attempt.attempt, attempt.fence, attempt.resumed_from, attempt.exit_kind,
       attempt.exit_status, attempt.message, attempt.created_at, attempt.started_at,
       attempt.ended_at,
       member.rank, member.host, member.cores, member.pid, member.start_ticks,
       member.frames_relayed,
       job.project, job.state, job.intent, job.spec, job.kind, job.payload, job.restarts,
       job.restarts_max, job.saves_requested,
       dataset.id as dataset_id, dataset.name as dataset_name, dataset.format as dataset_format,
       dataset.source as dataset_source, dataset.options as dataset_options,
       dataset.content_hash as dataset_content_hash,
       coalesce(newest.id, origin.id) as checkpoint_id,
       coalesce(newest.name, origin.name) as checkpoint_name,
       case when newest.id is null then origin.job_id else job.id end as checkpoint_job_id,
       not exists (select from lease
                   where lease.host = $1
                     and lease.job_id = attempt.job_id
                     and lease.attempt = attempt.attempt
                     and lease.expires_at > clock_timestamp()) as lease_expired
from (select distinct job_id, attempt from lease where host = $1) as held
join attempt using (job_id, attempt)
join attempt_member as member using (job_id, attempt)
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
where attempt.ended_at is null
order by attempt.created_at, attempt.job_id, member.rank

-- list_attempts: the attempts of a job, first to last
-- in     $1 job_id
-- out    a row for each member of an attempt, by rank
select job_id, attempt, fence, resumed_from, exit_kind, exit_status, message, created_at,
       started_at, ended_at, rank, host, cores, pid, start_ticks, frames_relayed
from attempt
join attempt_member using (job_id, attempt)
where job_id = $1
order by attempt, rank

-- find_run_time: how long the attempts of a job have run together, by the database's clock
-- in     $1 job_id
-- out    seconds
select coalesce(sum(extract(epoch from coalesce(ended_at, clock_timestamp()) - started_at)), 0)
           ::double precision as seconds
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
    update lease
    set expires_at = clock_timestamp() + make_interval(secs => $5)
    from live
    where lease.host = $1 and lease.job_id = live.job_id and lease.attempt = live.attempt
), heartbeat as (
    update host
    set heartbeat_at = clock_timestamp()
    where name = $1
)
select job_id, attempt, fence
from held
where (job_id, attempt) not in (select job_id, attempt from live)

-- lock_attempt: one row, or none when the attempt is not live with this fence
-- in     $1 job_id  $2 attempt  $3 fence
-- out    host, frames_relayed: those of rank 0; now, by the database's clock
-- locks  the job, then the attempt
select job.state, job.intent, job.event_seq, job.restarts, job.restarts_max, job.crash_key,
       job.crashes, job.reason_code, job.reason_message, member.frames_relayed, member.host,
       clock_timestamp() as now
from job
join attempt on attempt.job_id = job.id
join attempt_member as member
  on member.job_id = attempt.job_id and member.attempt = attempt.attempt and member.rank = 0
where job.id = $1 and attempt.attempt = $2 and attempt.fence = $3 and attempt.ended_at is null
for no key update of job, attempt

-- lock_expired_attempt: as lock_attempt, but only while its leases have run out long enough ago
-- in     $1 job_id  $2 attempt  $3 fence  $4 own host  $5 grace in seconds  $6 that of the own
--        host, or null: never
-- locks  the job, the attempt, its leases: a heartbeat waits or wins
select job.state, job.intent, job.event_seq, job.restarts, job.restarts_max, job.crash_key,
       job.crashes, job.reason_code, job.reason_message, member.frames_relayed, member.host
from job
join attempt on attempt.job_id = job.id
join attempt_member as member
  on member.job_id = attempt.job_id and member.attempt = attempt.attempt and member.rank = 0
join lease on lease.job_id = attempt.job_id and lease.attempt = attempt.attempt
where job.id = $1 and attempt.attempt = $2 and attempt.fence = $3 and attempt.ended_at is null
  and lease.expires_at < clock_timestamp()
                         - make_interval(secs => case when lease.host = $4 then $6::double precision
                                                 else $5::double precision end)
for no key update of job, attempt, lease

-- list_expired_attempts: whose leases have run out
-- in     $1 own host  $2 grace in seconds  $3 that of the own host, or null: never
select distinct attempt.job_id, attempt.attempt, attempt.fence
from lease
join attempt on attempt.job_id = lease.job_id and attempt.attempt = lease.attempt
where lease.expires_at < clock_timestamp()
                         - make_interval(secs => case when lease.host = $1 then $3::double precision
                                                 else $2::double precision end)
  and attempt.ended_at is null
order by attempt.job_id

-- end_attempt: closes the fence, and counts what the attempt has used for its project
-- in     $1 job_id  $2 attempt  $3 exit_kind  $4 exit_status  $5 message
with ended as (
    update attempt
    set ended_at    = clock_timestamp(),
        exit_kind   = $3,
        exit_status = $4,
        message     = $5
    where job_id = $1 and attempt = $2
    returning job_id, created_at, ended_at
)
insert into project_usage (project, core_seconds, at)
select job.project, job.cores * extract(epoch from ended.ended_at - ended.created_at),
       ended.ended_at
from ended
join job on job.id = ended.job_id

-- free_cores: the leases of an attempt that has ended
-- in     $1 job_id  $2 attempt
delete from lease
where job_id = $1 and attempt = $2

-- settle_job: where a job goes after an attempt; the triggers record it
-- in     $1 id  $2 state  $3 reason_code  $4 reason_message  $5 restarts to add
--        $6 back-off in seconds, 0 = none  $7 result or null  $8 crash_key or null  $9 crashes
-- errors SW001 when the state machine has no such move
update job
set state          = $2,
    reason_code    = $3,
    reason_message = $4,
    intent         = null,
    restarts       = restarts + $5,
    not_before     = case
                         when $6::double precision > 0
                         then clock_timestamp() + make_interval(secs => $6)
                     end,
    result         = coalesce($7::jsonb, result),
    crash_key      = $8,
    crashes        = $9
where id = $1
