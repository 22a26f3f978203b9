-- lock_making: splits are counted and made one after the other
-- locks  until the transaction ends
select pg_advisory_xact_lock(hashtextextended('slipway making', 0))

-- count_making: how many are being made or wait for it, of a dataset's project and of a token;
-- lock_making ran before, in a statement of its own, so that what others made meanwhile is seen
-- in     $1 dataset_id  $2 created_by
-- out    no row when the dataset is gone
select named.project,
       (select count(*)
        from split
        join dataset on dataset.id = split.dataset_id
        where split.state = 'making' and dataset.project = named.project) as of_project,
       (select count(*)
        from split
        where state = 'making' and created_by = $2) as of_token
from dataset as named
where named.id = $1

-- insert_split: waits to be made
-- in     $1 id  $2 dataset_id  $3 request  $4 created_by
-- errors foreign key violation when the dataset is gone
insert into split (id, dataset_id, request, created_by)
values ($1, $2, $3::jsonb, $4)

-- find_split: one
-- in     $1 id
select id, dataset_id, request, state, report, problems, folds, hash, bytes, created_by, created_at,
       made_at
from split
where id = $1

-- list_splits: a page of a dataset's, newest first; reports are read one by one
-- in     $1 dataset_id  $2 id to begin after  $3 limit  $4 bytes_max
with page as (
    select id, dataset_id, request, state, null::jsonb as report, problems, folds, hash, bytes,
           created_by, created_at, made_at
    from split
    where dataset_id = $1 and ($2::text is null or id < $2)
    order by id desc
    limit $3
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(page::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by id desc
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $4
order by bytes_before

-- lock_split: it is to be deleted
-- in     $1 id
-- out    project; no row when there is none
-- locks  its dataset's row, then its own, as delete_dataset does: a job that is being stored waits,
--        or is seen by find_split_user
select dataset.project
from split
join dataset on dataset.id = split.dataset_id
where split.id = $1
for update of dataset, split

-- find_split_user: a job, a cross-validation or a sweep of them that has not ended and runs on it; lock_split ran
-- before, in a statement of its own, so that one that it waited for is seen
-- in     $1 id
select 'job ' || id as used_by
from job
where finished_at is null and spec #>> '{data,split,id}' = $1
union all
select 'cross-validation ' || id
from cross_validation
where finished_at is null and split_id = $1
union all
select 'sweep ' || id
from sweep
where finished_at is null and split_id = $1
limit 1

-- delete_split: its manifest is garbage from now on
-- in     $1 id
with gone as (
    delete from split
    where id = $1
    returning id, make_host
)
insert into garbage (path, host)
select 'splits/' || id || '.json', make_host
from gone

-- claim_split: the oldest unclaimed one of the project that has the fewest being made, so that a
-- hundred of one project do not delay those of others; a split waits for its dataset's check
-- in     $1 host  $2 fence  $3 lease in seconds
-- out    the split's id and request; the dataset it is of
-- locks  one row; rows being claimed by others are skipped
with busy as (
    select dataset.project, count(*) as splits
    from split
    join dataset on dataset.id = split.dataset_id
    where split.state = 'making'
      and make_expires_at between clock_timestamp()
                              and clock_timestamp() + make_interval(secs => 2 * $3::double precision)
    group by dataset.project
), next as (
    select split.id
    from split
    join dataset on dataset.id = split.dataset_id
    left join busy on busy.project = dataset.project
    where split.state = 'making' and dataset.state <> 'checking'
      -- Claimed before the clock was set back, it would be kept for that much longer.
      and (make_expires_at is null
           or make_expires_at not between clock_timestamp()
                                      and clock_timestamp() + make_interval(secs => 2 * $3::double precision))
    order by coalesce(busy.splits, 0), split.id
    limit 1
    for update of split skip locked
)
update split
set make_host       = $1,
    make_fence      = $2,
    make_expires_at = clock_timestamp() + make_interval(secs => $3)
from next, dataset
where split.id = next.id and dataset.id = split.dataset_id
returning split.id, split.request, dataset.id as dataset_id, dataset.project, dataset.format,
          dataset.source,
          dataset.options, dataset.content_hash, dataset.state = 'failed' as dataset_failed

-- renew_split: keeps a claim
-- in     $1 id  $2 fence  $3 lease in seconds
update split
set make_expires_at = clock_timestamp() + make_interval(secs => $3)
where id = $1 and state = 'making' and make_fence = $2

-- release_split: gives a claim back: somebody may make the split at once
-- in     $1 id  $2 fence
update split
set make_fence      = null,
    make_expires_at = null
where id = $1 and state = 'making' and make_fence = $2

-- finish_split: what was made, once
-- in     $1 id  $2 fence  $3 state  $4 report  $5 problems  $6 folds  $7 hash  $8 bytes
-- out    project, none when its dataset is gone; no row when the claim was lost
update split
set state           = $3,
    report          = $4::jsonb,
    problems        = $5::jsonb,
    folds           = $6,
    hash            = $7,
    bytes           = $8,
    made_at         = clock_timestamp(),
    make_fence      = null,
    make_expires_at = null
where id = $1 and state = 'making' and make_fence = $2
returning (select project from dataset where dataset.id = split.dataset_id) as project
