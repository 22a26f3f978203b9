-- list_queue_totals: the queued jobs of each project and class, and what holds them
-- in     $1 projects text[] or null: all
-- out    oldest_ready_at: null when none is ready
with waiting as (
    select project, queue_class, sum(jobs)::bigint as jobs
    from current_job_count
    where state = 'queued' and ($1::text[] is null or project = any ($1))
    group by project, queue_class
    having sum(jobs) > 0
), held as (
    select project, class_rank,
           coalesce(sum(jobs) filter (where code = 'start_after'), 0)::bigint as start_after,
           coalesce(sum(jobs) filter (where code = 'waiting_for_dataset'), 0)::bigint
               as waiting_for_dataset
    from queue_held_count
    where $1::text[] is null or project = any ($1)
    group by project, class_rank
), present as materialized (
    select project, pool
    from ready_pools(null)
)
select waiting.project, waiting.queue_class, waiting.jobs,
       coalesce(held.start_after, 0) as start_after,
       coalesce(held.waiting_for_dataset, 0) as waiting_for_dataset,
       oldest.queued_at as oldest_ready_at
from waiting
left join held on held.project = waiting.project
              and held.class_rank = queue_class_rank(waiting.queue_class)
left join lateral (select min(first.queued_at) as queued_at
                   from present
                   cross join lateral (
                        select queued_at
                        from queue
                        where ready and project = present.project and pool = present.pool
                          and class_rank::integer = queue_class_rank(waiting.queue_class)::integer
                        order by queued_at, job_id
                        limit 1) as first
                   where present.project = waiting.project) as oldest on true
order by waiting.project, queue_class_rank(waiting.queue_class)

-- list_queue_rates: how many jobs were submitted, started and ended lately
-- in     $1 projects text[] or null: all
-- out    a row for each window; wait_mean_s, wait_max_s: null without first starts
with moved as (
    select at, submitted, started, ended, first_starts, waited_s, waited_max_s
    from job_rate
    where at > statement_timestamp() - interval '15 minutes'
      and ($1::text[] is null or project = any ($1))
    union all
    select at, submitted, started, ended, (waited_s is not null)::integer, coalesce(waited_s, 0),
           coalesce(waited_s, 0)
    from current_job_count
    where submitted + started + ended > 0
      and ($1::text[] is null or project = any ($1))
)
select window_s, statement_timestamp() as now,
       coalesce(sum(submitted), 0)::bigint as submitted,
       coalesce(sum(started), 0)::bigint as started,
       coalesce(sum(ended), 0)::bigint as ended,
       sum(waited_s) / nullif(sum(first_starts), 0) as wait_mean_s,
       max(waited_max_s) filter (where first_starts > 0) as wait_max_s
from (values (60), (300), (900)) as windows (window_s)
left join moved on moved.at > statement_timestamp() - make_interval(secs => window_s)
group by window_s
order by window_s

-- fold_held_counts: adds the changes up, a batch of rows at once
-- in     $1 rows_max
-- out    folded: rows that were added up; sums: rows that stand for them
with folded as (
    delete from queue_held_count
    where ctid = any (array(select ctid from queue_held_count limit $1))
    returning project, class_rank, code, jobs
), sums as (
    insert into queue_held_count (project, class_rank, code, jobs)
    select project, class_rank, code, sum(jobs)
    from folded
    group by project, class_rank, code
    having sum(jobs) <> 0
    returning jobs
)
select (select count(*) from folded) as folded, (select count(*) from sums) as sums
