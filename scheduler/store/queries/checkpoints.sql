-- list_checkpoints: a page, newest first
-- in     $1 job_id or null  $2 projects text[] or null  $3 deleted too  $4 id to begin after
--        $5 limit  $6 bytes_max
-- The files are made text once, to be measured and to be sent; 1000: all else as JSON.
with page as materialized (
    select checkpoint.id, checkpoint.job_id, job.project, checkpoint.attempt, checkpoint.name,
           checkpoint.step, checkpoint.epoch, checkpoint.kinds, checkpoint.files::text as files,
           checkpoint.bytes, checkpoint.metric_name, checkpoint.metric_value,
           checkpoint.pinned, checkpoint.created_at, checkpoint.deleted_at, checkpoint.written_by
    from checkpoint
    join job on job.id = checkpoint.job_id
    where ($1::text is null or checkpoint.job_id = $1)
      and ($2::text[] is null or job.project = any ($2))
      and ($3::boolean or checkpoint.deleted_at is null)
      and ($4::text is null or checkpoint.id < $4)
    order by checkpoint.id desc
    limit $5
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(1000 + octet_length(files)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by id desc
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $6
order by bytes_before

-- find_checkpoint: one, deleted or not
-- in     $1 id
select checkpoint.id, checkpoint.job_id, job.project, checkpoint.attempt, checkpoint.name,
       checkpoint.step, checkpoint.epoch, checkpoint.kinds, checkpoint.files, checkpoint.bytes,
       checkpoint.metric_name, checkpoint.metric_value, checkpoint.pinned, checkpoint.created_at,
       checkpoint.deleted_at, checkpoint.written_by
from checkpoint
join job on job.id = checkpoint.job_id
where checkpoint.id = $1

-- find_newest_checkpoint: the one to resume from
-- in     $1 job_id
select checkpoint.id, checkpoint.job_id, job.project, checkpoint.attempt, checkpoint.name,
       checkpoint.step, checkpoint.epoch, checkpoint.kinds, checkpoint.files, checkpoint.bytes,
       checkpoint.metric_name, checkpoint.metric_value, checkpoint.pinned, checkpoint.created_at,
       checkpoint.deleted_at, checkpoint.written_by
from checkpoint
join job on job.id = checkpoint.job_id
where checkpoint.job_id = $1 and checkpoint.deleted_at is null
order by checkpoint.step desc, checkpoint.created_at desc
limit 1

-- list_part_checkpoints: the kept ones of the jobs of a part of a parent, the highest step first
-- in     $1 parent_id  $2 part, such as the number of a trial
select checkpoint.id, checkpoint.job_id, job.project, checkpoint.attempt, checkpoint.name,
       checkpoint.step, checkpoint.epoch, checkpoint.kinds, checkpoint.files, checkpoint.bytes,
       checkpoint.metric_name, checkpoint.metric_value, checkpoint.pinned, checkpoint.created_at,
       checkpoint.deleted_at, checkpoint.written_by, job.parent_key
from job
join checkpoint on checkpoint.job_id = job.id
where job.parent_id = $1
  and (job.parent_key = $2 or job.parent_key like $2 || '@%' or job.parent_key like $2 || '-%')
  and checkpoint.deleted_at is null
order by checkpoint.step desc, checkpoint.id desc

-- lock_checkpoint: it is to be deleted
-- in     $1 id
-- out    job_id, name, pinned, deleted; no row when there is none
-- locks  its job, so that no attempt starts from it meanwhile and no newer one comes or goes
select checkpoint.job_id, checkpoint.name, checkpoint.pinned,
       checkpoint.deleted_at is not null as deleted
from checkpoint
join job on job.id = checkpoint.job_id
where checkpoint.id = $1
for no key update of job, checkpoint

-- is_checkpoint_needed: may it not be deleted; lock_checkpoint ran before, in a statement of its own,
-- so that what it waited for is seen
-- in     $1 id
-- out    needed: it is the newest one of a job that has not ended; no row when there is none
select job.finished_at is null
       and not exists (select from checkpoint as newer
                       where newer.job_id = checkpoint.job_id
                         and newer.deleted_at is null
                         and (newer.step, newer.created_at)
                           > (checkpoint.step, checkpoint.created_at)) as needed
from checkpoint
join job on job.id = checkpoint.job_id
where checkpoint.id = $1

-- lock_checkpoints: those that may go now; meanwhile no job is stored that uses them
-- in     $1 job_id  $2 names text[]
-- locks  their rows, so that what runs after it sees every use
select id
from checkpoint
where job_id = $1 and name = any ($2)
order by id
for no key update

-- lock_checkpoints_of_job: may a job begin with them; they stay until the job is stored
-- in     $1 ids text[]
-- out    id, deleted; no row of one that is not there
-- locks  the checkpoints' rows, shared, in the order of their ids, and those of their jobs against
--        their deletion
select checkpoint.id, checkpoint.deleted_at is not null as deleted
from checkpoint
join job on job.id = checkpoint.job_id
where checkpoint.id = any ($1::text[])
order by checkpoint.id
for key share of job
for share of checkpoint

-- use_checkpoints: until the job has ended; nothing when the job was not stored
-- in     $1 ids text[]  $2 job_id
insert into checkpoint_use (checkpoint_id, job_id)
select used, job.id
from job
cross join unnest($1::text[]) as used
where job.id = $2
order by used

-- find_checkpoint_user: a job that has not ended and needs it
-- in     $1 id
select job_id
from checkpoint_use
where checkpoint_id = $1
order by job_id
limit 1

-- find_user_of_checkpoints: a job that has not ended and needs one of a job's checkpoints
-- in     $1 job_id
select checkpoint_use.job_id, checkpoint_id
from checkpoint_use
join checkpoint on checkpoint.id = checkpoint_id
where checkpoint.job_id = $1
order by checkpoint_use.job_id
limit 1

-- pin_checkpoint: keep it, or let go; what is pinned is wanted. Retention that has passed its job
-- begins there again when it is let go.
-- in     $1 id  $2 pinned
-- locks  the checkpoint, then the mark
with kept as (
    update checkpoint
    set pinned   = $2,
        unwanted = unwanted and not $2
    where id = $1 and deleted_at is null
    returning job_id
)
update retention_mark
set finished_at = job.finished_at,
    job_id      = ''
from kept
join job on job.id = kept.job_id
where not $2 and retention_mark.kind = 'checkpoints'
  and (job.finished_at, job.id) <= (retention_mark.finished_at, retention_mark.job_id)

-- mark_checkpoint_deleted: its folder is garbage from now on
-- in     $1 id
with pruned as (
    update checkpoint
    set deleted_at = clock_timestamp()
    where id = $1 and deleted_at is null
    returning job_id, attempt, name
)
insert into garbage (path, host)
select 'checkpoints/' || job_id || '/' || name, member.host
from pruned
join attempt_member as member using (job_id, attempt)
where member.rank = 0
