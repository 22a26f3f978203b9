-- What ended jobs leave, past its time. A kind's mark says up to which job, in the order of their
-- ends, it is gone; a batch begins there.

-- list_past_retention: the next jobs of a kind
-- in     $1 kind  $2 days  $3 how many
-- out    id, finished_at
-- locks  the mark: two processes do not prune the same jobs
with mark as materialized (
    select finished_at, job_id
    from retention_mark
    where kind = $1
    for update
)
select job.id, job.finished_at
from mark
join job on (job.finished_at, job.id) > (mark.finished_at, mark.job_id)
where job.finished_at < statement_timestamp() - make_interval(days => $2)
order by job.finished_at, job.id
limit $3

-- mark_pruned: says on jobs that a kind is gone; ran before its rows are deleted
-- in     $1 ids text[]  $2 kind
update job
set pruned = pruned || $2::text
where id = any ($1::text[]) and not $2 = any (pruned)

-- advance_retention: up to where a kind is gone
-- in     $1 kind  $2 job_id of the last job
update retention_mark
set finished_at = job.finished_at,
    job_id      = job.id
from job
where retention_mark.kind = $1 and job.id = $2

-- prune_job_events: a batch of the events of some types
-- in     $1 job ids text[]  $2 types text[]  $3 how many
-- out    changed
delete from job_event
where ctid = any (array(
    select ctid
    from job_event
    where job_id = any ($1::text[]) and type = any ($2::text[])
    limit $3
))

-- prune_job_metrics: a batch of chunks; all rollups, which are few
-- in     $1 job ids text[]  $2 how many
-- out    changed
with rollups as (
    delete from metric_rollup
    where job_id = any ($1::text[])
)
delete from metric_chunk
where ctid = any (array(
    select ctid
    from metric_chunk
    where job_id = any ($1::text[])
    limit $2
))

-- lock_surplus_checkpoints: of jobs, those that are neither the newest nor the best, and not pinned
-- in     $1 job ids text[]  $2 how many
-- out    id
-- locks  their rows, so that what runs after it sees every use
select id
from checkpoint
where job_id = any ($1::text[]) and deleted_at is null and not pinned and not unwanted
  and not 'best' = any (kinds)
  and exists (select from checkpoint as newer
              where newer.job_id = checkpoint.job_id and newer.deleted_at is null
                and (newer.step, newer.created_at) > (checkpoint.step, checkpoint.created_at))
order by id
limit $2
for no key update

-- prune_surplus_checkpoints: their folders are garbage; those that another job uses go with the last
-- such job (trigger job_follow_moves)
-- in     $1 ids text[]; lock_surplus_checkpoints ran before
-- out    changed
with named as (
    select id, exists (select from checkpoint_use where checkpoint_id = checkpoint.id) as used
    from checkpoint
    where id = any ($1::text[]) and deleted_at is null and not pinned
), pruned as (
    update checkpoint
    set unwanted   = used,
        deleted_at = case when not used then clock_timestamp() end
    from named
    where checkpoint.id = named.id
    returning job_id, name, used, attempt
)
insert into garbage (path, host)
select 'checkpoints/' || pruned.job_id || '/' || name, member.host
from pruned
join attempt_member as member
  on member.job_id = pruned.job_id and member.attempt = pruned.attempt and member.rank = 0
where not used

-- jobs_past_retention: jobs to delete; those with a pinned checkpoint, or one in use, stay
-- in     $1 days  $2 how many
-- out    of the list: id; of the count: jobs, and checkpoints of theirs, bytes
-- form list_jobs_past_retention
--   @WHAT@ due.id
--   @REST@ order by finished_at, id
-- form count_jobs_past_retention
--   @WHAT@ (select count(*) from due) as jobs, count(*) as checkpoints, @BYTES@
--   @BYTES@ coalesce(sum(checkpoint.bytes), 0)::bigint as bytes
--   @REST@ join checkpoint on checkpoint.job_id = due.id where checkpoint.deleted_at is null
with due as materialized (
    select id, finished_at
    from job
    where finished_at < statement_timestamp() - make_interval(days => $1)
      and not exists (select from checkpoint
                      where checkpoint.job_id = job.id and deleted_at is null
                        and (pinned
                             or exists (select from checkpoint_use
                                        where checkpoint_id = checkpoint.id)))
    order by finished_at, id
    limit $2
)
select @WHAT@
from due
@REST@

-- count_past_retention: jobs of which a kind is due to be pruned
-- in     $1 kind  $2 days  $3 how many are counted
-- out    jobs
select count(*) as jobs
from (select
      from retention_mark as mark
      join job on (job.finished_at, job.id) > (mark.finished_at, mark.job_id)
      where mark.kind = $1
        and job.finished_at < statement_timestamp() - make_interval(days => $2)
      limit $3) as due

-- count_surplus_checkpoints: those that would be pruned with jobs that are due
-- in     $1 days  $2 of how many jobs
-- out    checkpoints, bytes
select count(*) as checkpoints, coalesce(sum(checkpoint.bytes), 0)::bigint as bytes
from (select job.id
      from retention_mark as mark
      join job on (job.finished_at, job.id) > (mark.finished_at, mark.job_id)
      where mark.kind = 'checkpoints'
        and job.finished_at < statement_timestamp() - make_interval(days => $1)
      order by job.finished_at, job.id
      limit $2) as due
join checkpoint on checkpoint.job_id = due.id
where checkpoint.deleted_at is null and not pinned and not unwanted
  and not 'best' = any (kinds)
  and exists (select from checkpoint as newer
              where newer.job_id = checkpoint.job_id and newer.deleted_at is null
                and (newer.step, newer.created_at) > (checkpoint.step, checkpoint.created_at))
