-- All of these run after lock_relays in one transaction: the jobs' rows are locked, so the numbers
-- that the caller gives to events are the next ones.

-- lock_relays: the attempts whose frames are to be stored
-- in     arrays, each job once: $1 job_ids text[]  $2 attempts integer[]  $3 fences text[]
--        $4 ranks integer[]
-- out    frames_relayed: of the rank; now, by the database's clock; no row when the attempt is not
--        live with this fence
-- locks  the jobs in the order of their ids, then the attempts and their members
with asked as materialized (
    select *
    from unnest($1::text[], $2::integer[], $3::text[], $4::integer[])
         as asked (job_id, attempt, fence, rank)
), locked as materialized (
    select job.id as job_id, job.state, job.intent, job.event_seq
    from job
    where id = any ($1::text[])
    order by id
    for no key update
)
select locked.*, live.frames_relayed, clock_timestamp() as now
from locked
join asked using (job_id)
cross join lateral (select member.frames_relayed
                    from attempt
                    join attempt_member as member using (job_id, attempt)
                    where job_id = asked.job_id and attempt = asked.attempt
                      and fence = asked.fence and attempt.ended_at is null
                      and member.rank = asked.rank
                    -- Both: what a relay before has written to the member is seen after the wait.
                    for no key update of attempt, member) as live

-- enter_state: the executor is further; the trigger adds the event after `event_seq`
-- in     $1 job_id  $2 state  $3 event_seq
update job
set state     = $2,
    event_seq = $3
where id = $1

-- insert_events: in the order of their numbers within each job
-- in     arrays: $1 job_ids text[]  $2 seq bigint[]  $3 types text[]  $4 bodies text[]
insert into job_event (job_id, seq, type, body)
select job_id, seq, type, body::json
from unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) as event (job_id, seq, type, body)

-- insert_checkpoint: a committed folder; the same name again is the same folder
-- in     $1 id  $2 job_id  $3 attempt  $4 name  $5 step  $6 epoch  $7 kinds  $8 files  $9 bytes
--        $10 metric_name  $11 metric_value  $12 written_by or null
insert into checkpoint (id, job_id, attempt, name, step, epoch, kinds, files, bytes, metric_name,
                        metric_value, written_by)
values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11, $12::jsonb)
on conflict (job_id, name) do update
set kinds        = excluded.kinds,
    written_by   = excluded.written_by,
    files        = excluded.files,
    bytes        = excluded.bytes,
    metric_name  = excluded.metric_name,
    metric_value = excluded.metric_value,
    deleted_at   = null,
    unwanted     = false

-- set_checkpoint_kinds: what each checkpoint of the job is kept as from now on; one that is kept for
-- its pin or its users alone has none
-- in     $1 job_id  $2 names of the last text[]  $3 names of the best text[]
update checkpoint
set kinds = now.kinds
from (select id, array_remove(array[case when name = any ($2::text[]) then 'last' end,
                                    case when name = any ($3::text[]) then 'best' end],
                              null) as kinds
      from checkpoint
      where job_id = $1 and deleted_at is null) as now
where checkpoint.id = now.id and checkpoint.kinds <> now.kinds

-- prune_checkpoints: names that the executor no longer keeps; pinned ones stay, and those that
-- another job uses go with the last such job (trigger job_follow_moves)
-- in     $1 job_id  $2 names text[]; lock_checkpoints ran before
-- out    name of each whose folder nobody needs any more
with named as (
    select id, exists (select from checkpoint_use where checkpoint_id = checkpoint.id) as used
    from checkpoint
    where job_id = $1 and name = any ($2::text[]) and deleted_at is null and not pinned
), pruned as (
    update checkpoint
    set unwanted   = used,
        deleted_at = case when not used then clock_timestamp() end
    from named
    where checkpoint.id = named.id
    returning name, used, attempt
), added as (
    insert into garbage (path, host)
    select 'checkpoints/' || $1 || '/' || name, member.host
    from pruned
    join attempt_member as member
      on member.job_id = $1 and member.attempt = pruned.attempt and member.rank = 0
    where not used
)
select name
from pruned
where not used

-- advance_relay: what the batches leave on the jobs and on members of their attempts
-- in     arrays, each job once: $1 job_ids text[]  $2 event_seq bigint[]  $3 progress  $4 best
--        $5 effective  $6 attempts integer[]  $7 frames_relayed bigint[]  $8 ranks integer[]
--        null json leaves as it is
with batch as materialized (
    select *
    from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::integer[],
                $7::bigint[], $8::integer[])
         as batch (job_id, event_seq, progress, best, effective, attempt, frames_relayed, rank)
), advanced as (
    update attempt_member as member
    set frames_relayed = batch.frames_relayed
    from batch
    -- `any`: by their keys, whatever the plan that is kept has assumed of the number of rows.
    where member.job_id = any ($1::text[])
      and member.job_id = batch.job_id and member.attempt = batch.attempt
      and member.rank = batch.rank
)
update job
set event_seq = batch.event_seq,
    progress  = coalesce(batch.progress::jsonb, job.progress),
    best      = coalesce(batch.best::jsonb, job.best),
    effective = coalesce(batch.effective::jsonb, job.effective)
from batch
where job.id = any ($1::text[]) and job.id = batch.job_id
