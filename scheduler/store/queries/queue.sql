-- Locks are taken in one order everywhere: dataset, job, queue row; of several rows of one table in
-- the order of their ids, or those locked by others are skipped. statement_timestamp() where an
-- index is to be used: clock_timestamp() may change within a statement, so no index serves it.

-- list_queue_page: a page of the queue by class and age, held jobs too. It has two forms: PostgreSQL
-- plans one that takes "all or these projects" anew at each call, which takes longer than it runs.
-- in     $1 class_rank, $2 queued_at, $3 job_id to begin after  $4 limit  $5 the last position that
--        is counted  then, of some projects: text[]
-- out    position: the place in fair order (fair_share.h) among those that may have the same cores;
--        null for a held job and for one behind more than $5 ready ones
-- form list_queue
--   @SOURCE@ queue
-- form list_queue_of_projects
--   @SOURCE@ queue_pages($6, $1::smallint, $2::timestamptz, $3, $4) as queue
with ranked as (
    select job_id, place as position
    from ready_positions($5)
), listed as (
    select queue.*
    from @SOURCE@
    where (queue.class_rank, queue.queued_at, queue.job_id) > ($1::smallint, $2::timestamptz, $3)
    order by queue.class_rank, queue.queued_at, queue.job_id
    limit $4::bigint
)
select listed.job_id, job.name, listed.project, job.queue_class, listed.class_rank,
       listed.queued_at, listed.cores, listed.core_id, listed.pool, listed.not_before,
       listed.not_before is null or listed.not_before <= statement_timestamp() as due,
       listed.valid_until, listed.dataset_id, dataset.state as dataset_state,
       case when ranked.position <= $5 then ranked.position end as position
from listed
join job on job.id = listed.job_id
left join dataset on dataset.id = listed.dataset_id
left join ranked on ranked.job_id = listed.job_id
order by listed.class_rank, listed.queued_at, listed.job_id

-- list_ready_jobs: of each shape of each project the first that may start. Jobs of one shape are
-- interchangeable for placement, so no more of a shape can start than there are cores. Jobs of a
-- pool are a shape of their own, and so are jobs of a group, of which no more are read than the
-- group's limit leaves.
-- in     $1 how many of each shape  $2, $3: who holds cores, as of list_running_jobs
--        $4 to $9: where the shapes began at an earlier call, as arrays: projects, groups, pools,
--        shapes, class ranks, queued_at; null: not known  $10: fresh_since of that call
-- out    memory_bytes: that counts for the job; null: the share of its cores
--        runs_at_most_s: what is left of its limits of time; null: no limit
--        group_name: '' for none; group_limit: null for none
--        job_id: null for a shape of which none may start now; fresh_since
with recursive found (project, group_name, pool, shape) as (
    (select project, group_name, pool, shape
     from queue
     where ready
     order by project, group_name, pool, shape
     limit 1)
    union all
    select next.project, next.group_name, next.pool, next.shape
    from found
    cross join lateral (select project, group_name, pool, shape
                        from queue
                        where ready
                          and (project, group_name, pool, shape)
                            > (found.project, found.group_name, found.pool, found.shape)
                        order by project, group_name, pool, shape
                        limit 1) as next
), known as (
    -- first_class 5, behind all classes: only what is fresh is read. Between two times, although the
    -- second is never reached: of what comes after one time a plan that is kept assumes a third of
    -- the queue, and then reads all of another index.
    select project, group_name, pool, shape, first_class, first_queued_at
    from unnest($4::text[], $5::text[], $6::text[], $7::bigint[], $8::integer[], $9::timestamptz[])
         as earlier (project, group_name, pool, shape, first_class, first_queued_at)
    union all
    select fresh.project, fresh.group_name, fresh.pool, fresh.shape, 5, 'infinity'
    from generate_series(0, 4) as class
    cross join lateral (select project, group_name, pool, shape
                        from queue
                        where class_rank = class::smallint and ready
                          and queued_at between $10::timestamptz
                                            and $10::timestamptz + interval '1000 years'
                        order by queued_at
                        limit 10000) as fresh
), present as (
    select found.*, 0 as first_class, '-infinity'::timestamptz as first_queued_at
    from found
    where $4::text[] is null
    union all
    select project, group_name, pool, shape, min(first_class), min(first_queued_at)
    from known
    where $4::text[] is not null
    group by project, group_name, pool, shape
), running as (
    select job.project, job.spec #>> '{queue,group}' as group_name, count(*) as jobs
    from live_attempts($2, $3) as attempt
    cross join lateral (select project, spec
                        from job
                        where id = attempt.job_id
                        offset 0) as job
    where job.spec #>> '{queue,group}' is not null
      and exists (select from present where group_name <> '')
    group by 1, 2
), wanted as (
    select present.*, job_group.jobs_max as group_limit,
           greatest(0, least($1, coalesce(job_group.jobs_max - coalesce(running.jobs, 0), $1)))
               as jobs
    from present
    left join job_group on job_group.project = present.project
                       and job_group.name = present.group_name
    left join running on running.project = present.project
                     and running.group_name = present.group_name
)
select head.job_id, wanted.project, head.class_rank, head.queued_at, head.cores, head.core_id,
       head.memory_bytes, job.runs_at_most_s, job.eta_s, wanted.group_name, wanted.group_limit,
       wanted.pool, job.dataset_id, job.crash_key, wanted.shape,
       statement_timestamp() - interval '2 seconds' as fresh_since
from wanted
left join lateral (
    select *
    from ((select job_id, class_rank, queued_at, cores, core_id, memory_bytes
           from queue
           where ready and project = wanted.project and group_name = wanted.group_name
             and pool = wanted.pool and shape = wanted.shape
             and (class_rank::integer, queued_at) >= (wanted.first_class, wanted.first_queued_at)
           order by class_rank::integer, queued_at, job_id
           limit wanted.jobs)
          union all
          (select urgent.*
           from generate_series(0, wanted.first_class - 1) as class
           cross join lateral (select job_id, class_rank, queued_at, cores, core_id, memory_bytes
                               from queue
                               where ready and project = wanted.project
                                 and group_name = wanted.group_name
                                 and pool = wanted.pool and shape = wanted.shape
                                 and class_rank::integer = class
                                 and queued_at >= $10::timestamptz
                               order by queued_at, job_id
                               limit wanted.jobs) as urgent)) as both_parts
    order by class_rank, queued_at, job_id
    limit wanted.jobs) as head on true
-- By the index, here and above, whatever the plan that is kept has assumed of the number of jobs.
left join lateral (select dataset_id, crash_key, time_left_s(job) as runs_at_most_s,
                          (progress ->> 'eta_s')::double precision as eta_s
                   from job
                   where id = head.job_id
                   offset 0) as job on true
order by head.class_rank, head.queued_at, head.job_id

-- list_running_jobs: who holds cores
-- in     their attempts, as arrays: $1 job_ids text[]  $2 attempts integer[]; null: of all
-- out    runs_at_most_s: as of list_ready_jobs, from started_at on
select job.id as job_id, job.project, queue_class_rank(job.queue_class) as class_rank, job.cores,
       attempt.created_at as started_at,
       job.kind = 'train'    -- others save nothing
       and job.state in ('starting', 'compiling', 'running')
       and coalesce((job.spec -> 'queue' ->> 'preemptible')::boolean, true) as preemptible,
       job.intent is not null as ending, job.runs_at_most_s,
       case when job.state = 'running' then (job.progress ->> 'eta_s')::double precision end
           as eta_s,
       coalesce(job.spec #>> '{queue,group}', '') as group_name, pool_of(job.spec) as pool
from live_attempts($1, $2) as attempt
-- By the index, whatever the plan that is kept has assumed of the number of jobs.
cross join lateral (select job.*, time_left_s(job) as runs_at_most_s
                    from job
                    where id = attempt.job_id
                    offset 0) as job
order by job.id

-- list_shares: what the projects with ready jobs are entitled to and have used
-- in     $1 one more project or null  $2 the projects text[]; null: those with ready jobs
--        $3, $4: who holds cores, as of list_running_jobs
-- out    usage_core_s: decayed, running jobs included; now
select standing.project as name, standing.weight, standing.used_core_s as usage_core_s,
       project.cores_max, statement_timestamp() as now
from standings_of($2, $1, $3, $4) as standing
left join project on project.name = standing.project
order by standing.project

-- list_forecast_jobs: the first ready jobs in fair order, of each pool as many as of the others
-- in     $1 how many
-- out    as list_ready_jobs; preemptible
with ranked as (
    select job_id, place
    from ready_positions($1)
    order by place, job_id
    limit $1
)
select queue.job_id, queue.project, queue.class_rank, queue.queued_at, queue.cores, queue.core_id,
       queue.memory_bytes, time_left_s(job) as runs_at_most_s,
       (job.progress ->> 'eta_s')::double precision as eta_s,
       job.kind = 'train'    -- others save nothing
       and coalesce((job.spec -> 'queue' ->> 'preemptible')::boolean, true) as preemptible,
       queue.group_name, job_group.jobs_max as group_limit, queue.pool, job.crash_key
from ranked
join queue on queue.job_id = ranked.job_id
join job on job.id = queue.job_id
left join job_group on job_group.project = queue.project and job_group.name = queue.group_name
order by ranked.place, ranked.job_id

-- list_typical_runs: how long jobs that succeeded lately held their cores
-- out    a row for each project and number of cores, for each project (cores null), and for all
--        (project null); now
with lately as (
    select id, project, cores
    from job
    where resting_state = 'succeeded'
    order by coalesce(finished_at, 'infinity'::timestamptz) desc, id desc
    limit 1000
), timed as (
    select lately.project, lately.cores,
           sum(greatest(0, extract(epoch from attempt.ended_at - attempt.created_at)))
               ::double precision as run_s
    from lately
    join attempt on attempt.job_id = lately.id
    where attempt.ended_at is not null
    group by lately.id, lately.project, lately.cores
)
select project, cores, count(*) as jobs,
       percentile_cont(0.5) within group (order by run_s) as median_s,
       statement_timestamp() as now
from timed
group by grouping sets ((project, cores), (project), ())

-- find_queued_job: one waiting job, and what holds it back
-- in     $1 job_id
select queue.job_id, queue.project, queue.class_rank, queue.queued_at, queue.cores, queue.core_id,
       queue.not_before,
       queue.not_before is null or queue.not_before <= statement_timestamp() as due,
       queue.dataset_id, dataset.state as dataset_state, queue.memory_bytes,
       time_left_s(job) as runs_at_most_s,
       (job.progress ->> 'eta_s')::double precision as eta_s, queue.group_name,
       job_group.jobs_max as group_limit, queue.pool, job.crash_key
from queue
join job on job.id = queue.job_id
left join job_group on job_group.project = queue.project and job_group.name = queue.group_name
left join dataset on dataset.id = queue.dataset_id
where queue.job_id = $1

-- has_due_jobs: whether release_due_jobs would find one
-- out    found
select exists (select
               from generate_series(0, 4) as class (rank)
               cross join lateral (select
                                   from queue
                                   where class_rank = class.rank
                                     and not_before <= statement_timestamp()
                                   order by not_before
                                   limit 1) as first) as found

-- release_due_jobs: forgets times that have come, the most urgent classes first
-- in     $1 how many at once
-- out    a row for each
-- locks  their queue rows; those locked by others are left to the next call
with due as (
    select first.job_id
    from generate_series(0, 4) as class (rank)
    cross join lateral (select job_id, class_rank, not_before
                        from queue
                        where class_rank = class.rank and not_before <= statement_timestamp()
                        order by not_before, job_id
                        limit $1) as first
    order by first.class_rank, first.not_before, first.job_id
    limit $1
), locked as (
    select job_id
    from queue
    where job_id in (select job_id from due)
    for no key update skip locked
)
update queue
set not_before = null
from locked
where queue.job_id = locked.job_id
returning queue.job_id

-- list_datasets_to_follow: those whose check has ended and for which jobs still wait. The first
-- waiting job of each dataset is found in an index, however many there are.
-- out    id, state
with recursive waited_for (dataset_id) as (
    (select dataset_id from queue where not dataset_ready order by dataset_id limit 1)
    union all
    select (select dataset_id
            from queue
            where not dataset_ready and dataset_id > waited_for.dataset_id
            order by dataset_id
            limit 1)
    from waited_for
    where waited_for.dataset_id is not null
)
select dataset.id, dataset.state
from waited_for
join dataset on dataset.id = waited_for.dataset_id
where dataset.state <> 'checking'
order by dataset.id

-- release_jobs_of_dataset: those that wait for a dataset that has passed its check
-- in     $1 dataset_id  $2 how many at once
-- out    id of each
-- locks  their queue rows; those locked by others are left to the next call
with waiting as (
    select job_id
    from queue
    where dataset_id = $1 and not dataset_ready
    order by job_id
    limit $2
    for no key update skip locked
)
update queue
set dataset_ready = true
from waiting
where queue.job_id = waiting.job_id
returning queue.job_id as id

-- place_jobs: attempts, their members, their leases and the state `starting`; of a job that cannot
-- be placed nothing
-- in     an element for each job: $1 ids text[], $2 fences text[], $3 leases in seconds
--        double precision[]; for each core: $4 job_ids text[], $5 ranks smallint[], $6 hosts text[],
--        $7 cores smallint[]
-- out    job_id, attempt of each that was placed
-- locks  the jobs (those that another transaction has are passed over), then their queue rows
-- errors unique violation when one of the cores is leased
with placed as materialized (
    select *
    from unnest($1::text[], $2::text[], $3::double precision[]) as placed (job_id, fence, lease_s)
), asked as materialized (
    select asked.*, core between 1 and host.cores and not core = any (drained)
                    and drained_at is null as usable
    from unnest($4::text[], $5::smallint[], $6::text[], $7::smallint[])
         as asked (job_id, rank, host, core)
    left join host on host.name = asked.host
), whole as materialized (
    select job_id, array_agg(core) as cores
    from asked
    group by job_id
    having bool_and(coalesce(usable, false))
), wanted as materialized (
    select id, cores, core_id, dataset_id
    from job
    where id = any ($1::text[])
      and state = 'queued'
      and exists (select from queue
                  where job_id = job.id
                    and (not_before is null or not_before <= clock_timestamp()))
    order by id
    for no key update skip locked
), moved as (
    update job
    set state          = 'starting',
        attempts       = attempts + 1,
        reason_code    = null,
        reason_message = null
    from wanted
    join whole on whole.job_id = wanted.id
    where job.id = any ($1::text[]) and job.id = wanted.id
      and wanted.cores = cardinality(whole.cores)
      and (wanted.core_id is null or whole.cores = array[wanted.core_id])
      and not exists (select from dataset
                      where dataset.id = wanted.dataset_id and dataset.state <> 'ready')
    returning job.id, job.attempts
), tried as (
    insert into attempt (job_id, attempt, fence)
    select moved.id, moved.attempts, placed.fence
    from moved
    join placed on placed.job_id = moved.id
    returning job_id, attempt
), members as (
    insert into attempt_member (job_id, attempt, rank, host, cores)
    select job_id, attempt, rank, host, array_agg(core order by core)
    from tried
    join asked using (job_id)
    group by job_id, attempt, rank, host
), leased as (
    update core_slot as slot
    set turn       = slot.turn + 1,
        job_id     = tried.job_id,
        attempt    = tried.attempt,
        leased_at  = clock_timestamp(),
        expires_at = clock_timestamp() + make_interval(secs => placed.lease_s)
    from tried
    join asked using (job_id)
    join placed using (job_id)
    join newest_slots($6::text[], $7::smallint[]) as newest
      on newest.host = asked.host and newest.core = asked.core
    where slot.host = newest.host and slot.core = newest.core and slot.turn = newest.turn
      and slot.job_id is null
    returning slot.core
)
select job_id, attempt
from tried
where has_leased((select count(*) from leased),
                 (select count(*) from tried join asked using (job_id)))

-- drop_stale_queue_rows: of these jobs, the rows of those that are not queued or not there
-- in     $1 ids text[]
-- out    job_id; state: null when there is no such job
-- locks  the rows; those locked by others are left to the next call
with stale as materialized (
    select queue.job_id, job.state
    from queue
    left join job on job.id = queue.job_id
    where queue.job_id = any ($1::text[]) and job.state is distinct from 'queued'
    for update of queue skip locked
)
delete from queue
using stale
where queue.job_id = any ($1::text[]) and queue.job_id = stale.job_id
returning stale.job_id, stale.state

-- count_ready_ahead: how many ready jobs that may have the same cores go before a place in fair order
-- in     $1 class_rank  $2 queued_at  $3 job_id  $4 the most that are counted  $5 project
--        $6 pool
-- out    jobs: at most $4
with own as (
    select (coalesce(standing.used_core_s, 0) + 60 * ahead.cores) / coalesce(standing.weight, 1)
           as used
    from (select coalesce(sum(counted.cores), 0)::double precision as cores
          from ready_pools($5) as present
          cross join lateral (
                select cores
                from queue
                where ready and project = $5 and pool = present.pool
                  and (class_rank::integer, queued_at, job_id) < ($1::integer, $2::timestamptz, $3)
                order by class_rank::integer, queued_at, job_id
                limit $4) as counted
          where $6 in ('', present.pool) or present.pool = '') as ahead
    left join project_standings($5) as standing on standing.project = $5
)
select least($4::bigint, count(*)) as jobs
from own
join ready_in_fair_order($4) as ready
  on ($6 in ('', ready.pool) or ready.pool = '')
 and (ready.class_rank, ready.used, ready.queued_at, ready.job_id)
   < ($1::integer, own.used, $2::timestamptz, $3)
