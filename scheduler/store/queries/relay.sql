-- All of these run after lock_attempt in one transaction: the job's row is locked, so the numbers
-- that the caller gives to events are the next ones.

-- enter_state: the executor is further; the trigger adds the event after `event_seq`
-- in     $1 job_id  $2 state  $3 event_seq
update job
set state     = $2,
    event_seq = $3
where id = $1

-- insert_events: a run of events
-- in     $1 job_id  $2 seq of the first  $3 types text[]  $4 bodies text[]
insert into job_event (job_id, seq, type, body)
select $1, $2::bigint + position - 1, type, body::json
from unnest($3::text[], $4::text[]) with ordinality as events (type, body, position)

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

-- advance_relay: what the batch leaves on the job and on a member of the attempt
-- in     $1 job_id  $2 event_seq  $3 progress  $4 best  $5 effective  $6 attempt
--        $7 frames_relayed  $8 rank; null json leaves as it is
with advanced as (
    update attempt_member
    set frames_relayed = $7
    where job_id = $1 and attempt = $6 and rank = $8
)
update job
set event_seq = $2,
    progress  = coalesce($3::jsonb, progress),
    best      = coalesce($4::jsonb, best),
    effective = coalesce($5::jsonb, effective)
where id = $1
