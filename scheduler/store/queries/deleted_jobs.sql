-- Rows of jobs that were deleted. Nobody reads or writes them; they go in batches, each in
-- a transaction of its own. A batch begins where the one before it ended: to look for the first row
-- again would walk over all that are dead and not yet vacuumed.

-- claim_deleted_job: whose rows this transaction may remove
-- in     $1 id to go on with, or null for the one that has waited longest
-- out    id; no row when there is none, or others have them all
-- locks  its row; those locked by others are passed over
select id
from deleted_job
where $1::text is null or id = $1
order by deleted_at, id
limit 1
for update skip locked

-- clear_chunks: a batch of a deleted job's metrics; all of their rollups, which are few
-- in     $1 job_id  $2 name and $3 step to begin after  $4 how many
-- out    chunks removed; name and first step of the last
with rollups as (
    delete from metric_rollup
    where job_id = $1
), cleared as (
    delete from metric_chunk
    where ctid = any (array(
        select ctid
        from metric_chunk
        where job_id = $1 and (name, step_first) > ($2, $3::bigint)
        order by name, step_first
        limit $4
    ))
    returning name, step_first
)
select name, step_first, (select count(*) from cleared) as chunks
from cleared
order by name desc, step_first desc
limit 1

-- clear_events: a batch of a deleted job's events
-- in     $1 job_id  $2 seq to begin after  $3 how many
-- out    events removed
with cleared as (
    delete from job_event
    where ctid = any (array(
        select ctid
        from job_event
        where job_id = $1 and seq > $2
        order by seq
        limit $3
    ))
    returning seq
)
select count(*) as events, coalesce(max(seq), 0) as seq
from cleared

-- clear_checkpoints: a batch of a deleted job's checkpoints
-- in     $1 job_id  $2 name to begin after  $3 how many
-- out    checkpoints removed; name of the last
with cleared as (
    delete from checkpoint
    where ctid = any (array(
        select ctid
        from checkpoint
        where job_id = $1 and name > $2
        order by name
        limit $3
    ))
    returning name
)
select count(*) as checkpoints, coalesce(max(name), '') as name
from cleared

-- forget_deleted_job: nothing of it is left
-- in     $1 id
delete from deleted_job
where id = $1
