-- What a deleted dataset has left: its splits, and the jobs that ran on it. They may be very many and
-- go in batches, each in a transaction of its own. A batch of jobs begins where the one before it
-- ended: to look for the first one again would walk over all that are dead and not yet vacuumed.

-- claim_deleted_dataset: whose rows this transaction may change
-- in     $1 id to go on with, or null for the one that has waited longest
-- out    id; no row when there is none, or others have them all
-- locks  its row; those locked by others are passed over
select id
from deleted_dataset
where $1::text is null or id = $1
order by deleted_at, id
limit 1
for update skip locked

-- clear_splits: a batch of a deleted dataset's splits; their manifests are garbage from now on
-- in     $1 dataset_id  $2 id to begin after  $3 how many
-- out    splits removed; id of the last
with cleared as (
    delete from split
    where id = any (array(
        select id
        from split
        where dataset_id = $1 and id > $2
        order by id
        limit $3
    ))
    returning id, make_host
), kept as (
    insert into garbage (path, host)
    select 'splits/' || id || '.json', make_host
    from cleared
)
select count(*) as splits, coalesce(max(id), '') as id
from cleared

-- release_jobs: a batch of the jobs that ran on a deleted dataset; all of them have ended
-- in     $1 dataset_id  $2 id to begin after  $3 how many
-- out    jobs changed; id of the last
-- locks  their rows
with released as (
    update job
    set dataset_id = null
    where id = any (array(
        select id
        from job
        where dataset_id = $1 and id > $2
        order by id
        limit $3
        for no key update
    ))
    returning id
)
select count(*) as jobs, coalesce(max(id), '') as id
from released

-- forget_deleted_dataset: nothing refers to it
-- in     $1 id
delete from deleted_dataset
where id = $1
