-- insert_dataset: waits to be checked
-- in     $1 id  $2 project  $3 name  $4 format  $5 source  $6 options  $7 created_by
--        $8 upload_host or null  $9 upload_bytes
-- errors unique violation when the project has one of this name that has not failed
insert into dataset (id, project, name, format, source, options, created_by, upload_host,
                     upload_bytes)
values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8, $9)

-- lock_checking: datasets that are to be checked are counted and made one after the other
-- locks  until the transaction ends
select pg_advisory_xact_lock(hashtextextended('slipway checking', 0))

-- count_checking: how many wait for their check, of a project and of a token; lock_checking ran
-- before, in a statement of its own, so that what others made meanwhile is seen
-- in     $1 project  $2 created_by
select count(*) filter (where project = $1) as of_project,
       count(*) filter (where created_by = $2) as of_token
from dataset
where state = 'checking' and (project = $1 or created_by = $2)

-- lock_upload: the upload that a dataset is made from, or that is to be deleted
-- in     $1 id
-- out    complete, host, size; no row when there is none
-- locks  its row
select complete, host, size
from upload
where id = $1
for update

-- lock_upload_of_job: may a job begin with it; it stays until the job is stored
-- in     $1 id
-- out    complete; no row when there is none
-- locks  its row, shared
select complete
from upload
where id = $1
for share

-- find_upload_user: one that has not ended and needs it
-- in     $1 id
select used_by
from upload_user
where upload_id = $1
limit 1

-- consume_upload: its file belongs to a dataset now and is removed with it
-- in     $1 id
delete from upload
where id = $1

-- find_dataset_row: by id, or by name within a project; of those of one name the newest that failed
-- counts only when there is no other. PostgreSQL would plan one statement with both at each call.
-- form find_dataset
--   @CONDITION@ id = $1
-- form find_dataset_by_name
--   @CONDITION@ project = $1 and name = $2
select id, project, name, format, source, options, state, report, problems, content_hash, bytes,
       created_by, version, created_at, checked_at
from dataset
where @CONDITION@
order by state = 'failed', id desc
limit 1

-- list_datasets: a page, newest first; of a report what is one number, word or flag, of the problems
-- the first one: whole reports are read one by one
-- in     $1 projects text[]  $2 format  $3 state  $4 name pattern; null = no such condition
--        $5 id to begin after or null  $6 limit  $7 bytes_max
with page as (
    select id, project, name, format, source, options, state,
           (select jsonb_object_agg(key, value)
            from jsonb_each(report)
            where jsonb_typeof(value) in ('number', 'string', 'boolean')) as report,
           jsonb_path_query_array(problems, '$[0]') as problems, content_hash, bytes,
           created_by, version, created_at, checked_at
    from dataset
    where ($1::text[] is null or project = any ($1))
      and ($2::text is null or format = $2)
      and ($3::text is null or state = $3)
      and ($4::text is null or name ilike $4)
      and ($5::text is null or id < $5)
    order by id desc
    limit $6
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(page::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by id desc
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $7
order by bytes_before

-- lock_dataset: it is to be deleted
-- in     $1 id
-- out    upload: the file it was made from, project; no row when there is none
-- locks  its row: a job that is being stored waits, or is seen by find_dataset_user
select source ->> 'upload' as upload, project
from dataset
where id = $1
for update

-- find_dataset_user: a job, a cross-validation or a sweep of them that has not ended and runs on it; lock_dataset ran
-- before, in a statement of its own, so that one that it waited for is seen
-- in     $1 id
select 'job ' || id as used_by
from job
where dataset_id = $1 and finished_at is null
union all
select 'cross-validation ' || id
from cross_validation
where dataset_id = $1 and finished_at is null
union all
select 'sweep ' || sweep.id
from split
join sweep on sweep.split_id = split.id
where split.dataset_id = $1 and sweep.finished_at is null
limit 1

-- delete_dataset: its folder is garbage from now on, and the upload it was made from unless its check
-- has ended (finish_dataset_check); the trigger dataset_leaves hands its splits and its jobs to
-- deleted_datasets.sql
-- in     $1 id  $2 upload or null
with gone as (
    delete from dataset
    where id = $1
    returning id, state, check_host, upload_host
)
insert into garbage (path, host)
select 'datasets/' || id, check_host
from gone
union all
select 'uploads/' || $2, upload_host
from gone
where $2 is not null and state = 'checking'

-- find_dataset_preview: what its check kept to look at
-- in     $1 id
-- out    preview: null when there is none
select preview
from dataset
where id = $1

-- claim_dataset_check: of those that nobody checks the oldest of the project that has the fewest
-- being checked: whoever announces a hundred does not keep others waiting
-- in     $1 host  $2 fence  $3 lease in seconds
-- locks  one row; rows being claimed by others are skipped
with busy as (
    select project, count(*) as checks
    from dataset
    where state = 'checking'
      and check_expires_at between clock_timestamp()
                               and clock_timestamp() + make_interval(secs => 2 * $3::double precision)
    group by project
), next as (
    select dataset.id
    from dataset
    left join busy on busy.project = dataset.project
    where state = 'checking'
      -- Claimed before the clock was set back, it would be kept for that much longer.
      and (check_expires_at is null
           or check_expires_at not between clock_timestamp()
                                       and clock_timestamp() + make_interval(secs => 2 * $3::double precision))
    order by coalesce(busy.checks, 0), dataset.id
    limit 1
    for update of dataset skip locked
)
update dataset
set check_host       = $1,
    check_fence      = $2,
    check_expires_at = clock_timestamp() + make_interval(secs => $3)
from next
where dataset.id = next.id
returning dataset.id, project, name, format, source, options, state, report, problems,
          content_hash, bytes, created_by, version, created_at, checked_at

-- renew_dataset_check: keeps a claim
-- in     $1 id  $2 fence  $3 lease in seconds
update dataset
set check_expires_at = clock_timestamp() + make_interval(secs => $3)
where id = $1 and state = 'checking' and check_fence = $2

-- release_dataset_check: gives a claim back: somebody may take the check at once
-- in     $1 id  $2 fence
update dataset
set check_fence      = null,
    check_expires_at = null
where id = $1 and state = 'checking' and check_fence = $2

-- finish_dataset_check: what the check found, once; the file that the dataset was made from is garbage
-- from now on, whatever was found
-- in     $1 id  $2 fence  $3 state  $4 report  $5 problems  $6 content_hash  $7 bytes
--        $8 preview
-- out    project; no row when the claim was lost
with finished as (
    update dataset
    set state            = $3,
        report           = $4::jsonb,
        problems         = $5::jsonb,
        content_hash     = $6,
        bytes            = $7,
        preview          = $8::jsonb,
        version          = version + 1,
        upload_bytes     = 0,
        checked_at       = clock_timestamp(),
        check_fence      = null,
        check_expires_at = null
    where id = $1 and state = 'checking' and check_fence = $2
    returning project, source ->> 'upload' as upload, upload_host
), consumed as (
    insert into garbage (path, host)
    select 'uploads/' || upload, upload_host
    from finished
    where upload is not null
)
select project
from finished

-- lock_uploads: uploads are announced one after the other, so that none takes another's room
-- locks  until the transaction ends
select pg_advisory_xact_lock(hashtextextended('slipway uploads', 0))

-- count_open_uploads: what is announced and has not arrived, of everybody; how many a token has open
-- in     $1 created_by
select coalesce(sum(size - received), 0)::bigint as bytes,
       count(*) filter (where created_by = $1) as uploads
from upload
where not complete

-- count_stored_bytes: what a project, and a token in all projects, keep on disks: files that were
-- uploaded, those that are announced, and what was unpacked of them. lock_uploads ran before.
-- in     $1 project, or null when only the token is asked for  $2 created_by
select (select coalesce(sum(bytes + upload_bytes), 0)
        from dataset
        where project = $1 and source ? 'upload')::bigint as of_project,
       (select coalesce(sum(bytes + upload_bytes), 0)
        from dataset
        where created_by = $2 and source ? 'upload')::bigint
       + (select coalesce(sum(size), 0)
          from upload
          where created_by = $2)::bigint as of_token

-- insert_upload: a file on its way in
-- in     $1 id  $2 filename  $3 size  $4 sha256  $5 created_by  $6 keep in seconds
--        $7 host or null
insert into upload (id, filename, size, sha256, created_by, expires_at, host)
values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6), $7)
returning id, filename, size, sha256, received, complete, created_by, created_at, expires_at

-- find_upload: one
-- in     $1 id
select id, filename, size, sha256, received, complete, created_by, created_at, expires_at
from upload
where id = $1

-- list_lost_uploads: those of a list that no longer accept bytes
-- in     $1 ids text[]
select asked.id
from unnest($1::text[]) as asked (id)
where not exists (select from upload
                  where upload.id = asked.id and expires_at > clock_timestamp())

-- advance_upload: from the offset that the writer knew
-- in     $1 id  $2 from  $3 to
update upload
set received = $3
where id = $1 and received = $2 and not complete and $3 between $2 and size

-- complete_upload: all bytes are there
-- in     $1 id
update upload
set complete = true
where id = $1 and received = size

-- delete_upload: its file is garbage from now on
-- in     $1 id
-- out    garbage
with gone as (
    delete from upload
    where id = $1
    returning id, host
)
insert into garbage (path, host)
select 'uploads/' || id, host
from gone
