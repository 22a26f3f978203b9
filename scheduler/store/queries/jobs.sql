-- insert_jobs: jobs, each with its first event and its queue row (triggers job_guard, job_begins),
-- except those whose dataset is not there or has failed its check; and an entry of the audit log for
-- each that is stored and has an action
-- in     arrays with an element for each job, text[] if nothing else is said: $1 id  $2 name
--        $3 project  $4 labels  $5 spec  $6 effective  $7 dataset_id  $8 queue_class
--        $9 cores integer[]  $10 core_id integer[]  $11 restarts_max integer[]
--        $12 not_before timestamptz[]  $13 valid_until timestamptz[]  $14 created_by  $15 kind
--        $16 payload  $17 origin_action  $18 origin_job_id  $19 continues_from
--        $20 traceparent  $21 parent_id  $22 parent_key  $23 action of the audit log
--        $24 token_id  $25 request_id  $26 detail
-- out    as find_job, for those that were stored, in no order
-- locks  the datasets' rows, shared: they cannot change state before the jobs are stored
with wanted as materialized (
    select *
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                $8::text[], $9::integer[], $10::integer[], $11::integer[], $12::timestamptz[],
                $13::timestamptz[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[],
                $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[],
                $25::text[], $26::text[])
         as one (id, name, project, labels, spec, effective, dataset_id, queue_class, cores, core_id,
                 restarts_max, not_before, valid_until, created_by, kind, payload, origin_action,
                 origin_job_id, continues_from, traceparent, parent_id, parent_key, action,
                 token_id, request_id, detail)
), usable as materialized (
    select id
    from dataset
    where id in (select dataset_id from wanted) and state <> 'failed'
    order by id
    for share
), stored as (
    insert into job (id, name, project, labels, spec, effective, dataset_id, queue_class, cores,
                     core_id, restarts_max, not_before, valid_until, created_by, kind, payload,
                     origin_action, origin_job_id, continues_from, traceparent, parent_id,
                     parent_key)
    select id, name, project, labels::jsonb, spec::jsonb, effective::jsonb, dataset_id, queue_class,
           cores, core_id, restarts_max, not_before, valid_until, created_by, kind, payload::jsonb,
           origin_action, origin_job_id, continues_from, traceparent, parent_id, parent_key
    from wanted
    where dataset_id is null or dataset_id in (select id from usable)
    returning id, name, project, labels, state, reason_code, reason_message, spec, effective,
              progress, best, result, dataset_id, queue_class, event_seq, attempts, restarts,
              version, created_by, created_at, started_at, finished_at, kind, payload,
              origin_action, origin_job_id, continues_from, pruned, traceparent, parent_id,
              parent_key
), audited as (
    insert into audit (token_id, action, object, request_id, detail)
    select wanted.token_id, wanted.action, stored.id, wanted.request_id, wanted.detail::json
    from stored
    join wanted using (id)
    where wanted.action is not null
)
select *
from stored

-- find_state_of_dataset: why a job was not stored
-- in     $1 id
select state
from dataset
where id = $1

-- find_job: one job
-- in     $1 id
select id, name, project, labels, state, reason_code, reason_message, spec, effective, progress,
       best, result, dataset_id, queue_class, event_seq, attempts, restarts, version, created_by,
       created_at, started_at, finished_at, kind, payload, origin_action, origin_job_id,
       continues_from, pruned, traceparent, parent_id, parent_key
from job
where id = $1

-- list_newest_jobs: a page of jobs, newest first; ids sort by time
-- in     $1 projects text[]  $2 name pattern  $3 labels  $4 dataset_id
--        $5 kind  $6 created tstzrange  $7 finished tstzrange  $8 parent_id
--        $9 id to begin after; null = no such condition  $10 limit  $11 id above which all are
--        $12 bytes_max  $13 ids of the jobs with the name, where they are few, or null
--        of list_jobs_of_parent $14 states text[] or null
-- out    rows_found: also those left out because the rows before them have bytes_max
-- What is long is made text once, to be measured and to be sent; 600: all else of a job as JSON.
-- form list_newest_jobs
--   @PARENT@
-- form list_jobs_of_parent
--   @PARENT@ parent_id = $8 and ($14::text[] is null or state = any ($14)) and
with page as materialized (
    select id, name, project, labels::text as labels, state, reason_code, reason_message,
           spec::text as spec, effective::text as effective, progress::text as progress,
           best::text as best, result::text as result, dataset_id, queue_class, event_seq, attempts,
           restarts, version, created_by, created_at, started_at, finished_at, kind,
           payload::text as payload, origin_action, origin_job_id, continues_from, pruned,
           traceparent, parent_id, parent_key, '' as sort_key
    from job
    where @PARENT@ job_matches(job, $1, $2, $3, $4, $5, $6::tstzrange, $7::tstzrange, $8)
      and ($9::text is null or id < $9)
      and id > $11
      and ($13::text[] is null or id = any ($13))
    order by id desc
    limit $10
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(600 + octet_length(concat(name, labels, reason_message, spec, effective,
                                                  progress, best, result, payload)))
                    over before_it, 0) as bytes_before
    from page
    window before_it as (order by id desc
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $12
order by bytes_before

-- list_named_jobs: some jobs whose names contain a text
-- in     $1 name pattern  $2 limit
-- out    id
select id
from job
where name ilike $1
limit $2

-- list_unfinished_of_parent: jobs of a parent that have not ended and are not asked to
-- in     $1 parent_id  $2 what they will be asked: cancel or kill  $3 limit
select id
from job
where parent_id = $1 and finished_at is null and coalesce(intent, '') not in ($2, 'kill')
order by id
limit $3

-- list_jobs_to_delete: jobs of a parent, the newest first: one that continues another one goes first
-- in     $1 parent_id  $2 limit
select id
from job
where parent_id = $1
order by id desc
limit $2

-- lock_job: where a job stands, until the transaction ends
-- in     $1 id
-- out    state, intent, version, event_seq, attempts; no row when there is none
-- locks  the job's row
select state, intent, version, event_seq, attempts
from job
where id = $1
for no key update

-- request_save: one more checkpoint is asked for of the live attempt
-- in     $1 id
update job
set saves_requested = saves_requested + 1
where id = $1

-- move_job: to another state; the triggers refuse or record it
-- in     $1 id  $2 state  $3 reason_code  $4 reason_message  $5 intent or null
-- errors SW001 when the state machine has no such move
update job
set state          = $2,
    reason_code    = $3,
    reason_message = $4,
    intent         = $5
where id = $1

-- patch_job: what a user may change; null leaves as it is
-- in     $1 id  $2 name  $3 labels  $4 queue_class  $5 pool
update job
set name        = coalesce($2, name),
    labels      = coalesce($3::jsonb, labels),
    queue_class = coalesce($4, queue_class),
    spec        = case
                      when $5::text is null then spec
                      else spec || jsonb_build_object(
                               'queue', coalesce(spec -> 'queue', '{}'::jsonb)
                                        || jsonb_build_object('pool', $5::text))
                  end
where id = $1

-- requeue_in_pool: a queued job whose spec names another pool than before waits for it
-- in     $1 id
update queue
set pool = pool_of(job.spec)
from job
where job.id = $1
  and queue.job_id = job.id

-- lock_job_to_delete: no job is stored meanwhile that uses one of its checkpoints
-- in     $1 id
-- out    state, project; no row when there is none
-- locks  the job's row, also against who holds it as the job of a checkpoint
select state, project
from job
where id = $1
for update

-- delete_job: removes a job and, through foreign keys, what is about it, except events, points and
-- checkpoints: the trigger job_leaves hands those to deleted_jobs.sql
-- in     $1 id
delete from job
where id = $1

-- expire_jobs: queued jobs that never started and whose time is over
-- in     $1 how many at once
-- out    id of each
-- locks  their rows; those locked by others are left to the next call
with stale as (
    select id
    from job
    where id in (select job_id
                 from queue
                 where valid_until <= statement_timestamp()
                 order by valid_until
                 limit $1)
      and state = 'queued'
    order by id
    for no key update skip locked
)
update job
set state          = 'expired',
    reason_code    = 'expired',
    reason_message = 'limits.valid_until passed before the job could start'
from stale
where job.id = stale.id
returning job.id

-- fail_jobs_of_dataset: those that wait for a dataset that failed its check
-- in     $1 dataset_id  $2 how many at once
-- out    id of each
-- locks  their rows; those locked by others are left to the next call
with waiting as (
    select id
    from job
    where id in (select job_id
                 from queue
                 where dataset_id = $1 and not dataset_ready
                 order by job_id
                 limit $2)
      and state = 'queued'
    order by id
    for no key update skip locked
)
update job
set state          = 'failed',
    reason_code    = 'data_error',
    reason_message = 'the dataset ' || $1 || ' failed its check: see its problems'
from waiting
where job.id = waiting.id
returning job.id

-- count_jobs: how many are in each state; the sum of changes
select state, sum(jobs)::bigint as jobs
from current_job_count
group by state
having sum(jobs) <> 0

-- count_queued_jobs: of a project and of a token; the sums of changes
-- in     $1 project  $2 created_by
select coalesce(sum(jobs) filter (where project = $1), 0)::bigint as of_project,
       coalesce(sum(jobs) filter (where created_by = $2), 0)::bigint as of_token
from current_job_count
where state = 'queued' and (project = $1 or created_by = $2)

-- fold_project_usage: adds up what attempts have used, so that few rows are read; what was not used
-- since stays as it is
with folded as (
    delete from project_usage
    where project in (select project from project_usage where not is_total)
    returning project, core_seconds, at
)
insert into project_usage (project, core_seconds, is_total)
select project, sum(decayed_usage(core_seconds, at)), true
from folded
group by project

-- fold_job_counts: adds the changes up, so that count_jobs reads few rows; what happened goes to
-- job_rate by 10 seconds, where 20 minutes of it are kept
with folded as (
    delete from job_count
    where exists (select from job_count where not is_total order by at desc limit 1)
    returning state, project, created_by, queue_class, jobs, at, submitted, started, ended, waited_s
), summed as (
    insert into job_count (state, project, created_by, queue_class, jobs, is_total)
    select state, project, created_by, queue_class, sum(jobs), true
    from folded
    group by state, project, created_by, queue_class
    having sum(jobs) <> 0
), forgotten as (
    delete from job_rate
    where at < statement_timestamp() - interval '20 minutes'
)
insert into job_rate (at, project, submitted, started, ended, first_starts, waited_s, waited_max_s)
select date_bin('10 seconds', at, timestamptz 'epoch'), project, sum(submitted), sum(started),
       sum(ended), count(waited_s), coalesce(sum(waited_s), 0), coalesce(max(waited_s), 0)
from folded
where submitted + started + ended > 0
group by 1, 2
