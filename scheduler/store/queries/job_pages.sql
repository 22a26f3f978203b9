-- Pages of jobs in some states, or in some order. Three places have them in order, and none is
-- read past its page: the jobs that rest (paused, ended) by their indexes; those that wait by the
-- queue; those that hold cores, of which there are few, by their live attempts. Each gives the
-- beginning of its part, and the page is the beginning of these together. `offset 0` has jobs
-- looked up one by one: a merge with the table would walk it from its beginning.

-- list_jobs_by_created_at_descending: a page of the jobs in these states, newest first
-- in     $1 states text[]  $2 to $6 as $1 to $5 of list_newest_jobs
--        $7 id to begin after  $8 limit  $9 bytes_max
-- out    as list_newest_jobs
with found as (
    select resting.id, resting.sort_key
    from unnest($1::text[]) as asked (state)
    cross join lateral (
        select job.id, '' as sort_key
        from job
        where resting_state = asked.state
          and job.id < $7
          and job_matches(job, $2, $3, $4, $5, $6)
        order by job.id desc
        limit $8
    ) as resting
    union all
    (select waiting.id, '' as sort_key
     from queue
     cross join lateral (select job.id
                         from job
                         where job.id = queue.job_id
                           and job_matches(job, $2, $3, $4, $5, $6)
                         offset 0) as waiting
     where 'queued' = any ($1)
       and queue.job_id < $7
     order by queue.job_id desc
     limit $8)
    union all
    select active.id, '' as sort_key
    from attempt
    cross join lateral (select job.id
                        from job
                        where job.id = attempt.job_id
                          and state = any ($1)
                          and job.id < $7
                          and job_matches(job, $2, $3, $4, $5, $6)
                        offset 0) as active
    where ended_at is null
), chosen as materialized (
    select id, sort_key
    from found
    order by sort_key collate "C" desc, id desc
    limit $8
), page as (
    select id, job.name, project, labels, state, reason_code, reason_message, spec, effective,
           progress, best, result, dataset_id, queue_class, event_seq, attempts, restarts, version,
           created_by, created_at, started_at, finished_at, prediction, sort_key
    from chosen
    join job using (id)
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(page::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by sort_key collate "C" desc, id desc
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $9
order by bytes_before

-- list_jobs_by_created_at: oldest first
-- in     as list_jobs_by_created_at_descending
with found as (
    select resting.id, resting.sort_key
    from unnest($1::text[]) as asked (state)
    cross join lateral (
        select job.id, '' as sort_key
        from job
        where resting_state = asked.state
          and job.id > $7
          and job_matches(job, $2, $3, $4, $5, $6)
        order by job.id
        limit $8
    ) as resting
    union all
    (select waiting.id, '' as sort_key
     from queue
     cross join lateral (select job.id
                         from job
                         where job.id = queue.job_id
                           and job_matches(job, $2, $3, $4, $5, $6)
                         offset 0) as waiting
     where 'queued' = any ($1)
       and queue.job_id > $7
     order by queue.job_id
     limit $8)
    union all
    select active.id, '' as sort_key
    from attempt
    cross join lateral (select job.id
                        from job
                        where job.id = attempt.job_id
                          and state = any ($1)
                          and job.id > $7
                          and job_matches(job, $2, $3, $4, $5, $6)
                        offset 0) as active
    where ended_at is null
), chosen as materialized (
    select id, sort_key
    from found
    order by sort_key collate "C", id
    limit $8
), page as (
    select id, job.name, project, labels, state, reason_code, reason_message, spec, effective,
           progress, best, result, dataset_id, queue_class, event_seq, attempts, restarts, version,
           created_by, created_at, started_at, finished_at, prediction, sort_key
    from chosen
    join job using (id)
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(page::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by sort_key collate "C", id
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $9
order by bytes_before

-- list_jobs_by_name: in the order of their names
-- in     $1 to $8 as list_jobs_by_created_at_descending  $9 name to begin after  $10 bytes_max
with found as (
    select resting.id, resting.sort_key
    from unnest($1::text[]) as asked (state)
    cross join lateral (
        select job.id, job.name as sort_key
        from job
        where resting_state = asked.state
          and (job.name collate "C", job.id) > ($9::text, $7)
          and job_matches(job, $2, $3, $4, $5, $6)
        order by job.name collate "C", job.id
        limit $8
    ) as resting
    union all
    (select waiting.id, queue.name as sort_key
     from queue
     cross join lateral (select job.id
                         from job
                         where job.id = queue.job_id
                           and job_matches(job, $2, $3, $4, $5, $6)
                         offset 0) as waiting
     where 'queued' = any ($1)
       and (queue.name collate "C", queue.job_id) > ($9::text, $7)
     order by queue.name collate "C", queue.job_id
     limit $8)
    union all
    select active.id, active.name as sort_key
    from attempt
    cross join lateral (select job.id, job.name
                        from job
                        where job.id = attempt.job_id
                          and state = any ($1)
                          and (job.name collate "C", job.id) > ($9::text, $7)
                          and job_matches(job, $2, $3, $4, $5, $6)
                        offset 0) as active
    where ended_at is null
), chosen as materialized (
    select id, sort_key
    from found
    order by sort_key collate "C", id
    limit $8
), page as (
    select id, job.name, project, labels, state, reason_code, reason_message, spec, effective,
           progress, best, result, dataset_id, queue_class, event_seq, attempts, restarts, version,
           created_by, created_at, started_at, finished_at, prediction, sort_key
    from chosen
    join job using (id)
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(page::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by sort_key collate "C", id
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $10
order by bytes_before

-- list_jobs_by_name_descending: the last name first
-- in     as list_jobs_by_name
with found as (
    select resting.id, resting.sort_key
    from unnest($1::text[]) as asked (state)
    cross join lateral (
        select job.id, job.name as sort_key
        from job
        where resting_state = asked.state
          and (job.name collate "C", job.id) < ($9::text, $7)
          and job_matches(job, $2, $3, $4, $5, $6)
        order by job.name collate "C" desc, job.id desc
        limit $8
    ) as resting
    union all
    (select waiting.id, queue.name as sort_key
     from queue
     cross join lateral (select job.id
                         from job
                         where job.id = queue.job_id
                           and job_matches(job, $2, $3, $4, $5, $6)
                         offset 0) as waiting
     where 'queued' = any ($1)
       and (queue.name collate "C", queue.job_id) < ($9::text, $7)
     order by queue.name collate "C" desc, queue.job_id desc
     limit $8)
    union all
    select active.id, active.name as sort_key
    from attempt
    cross join lateral (select job.id, job.name
                        from job
                        where job.id = attempt.job_id
                          and state = any ($1)
                          and (job.name collate "C", job.id) < ($9::text, $7)
                          and job_matches(job, $2, $3, $4, $5, $6)
                        offset 0) as active
    where ended_at is null
), chosen as materialized (
    select id, sort_key
    from found
    order by sort_key collate "C" desc, id desc
    limit $8
), page as (
    select id, job.name, project, labels, state, reason_code, reason_message, spec, effective,
           progress, best, result, dataset_id, queue_class, event_seq, attempts, restarts, version,
           created_by, created_at, started_at, finished_at, prediction, sort_key
    from chosen
    join job using (id)
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(page::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by sort_key collate "C" desc, id desc
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $10
order by bytes_before

-- list_jobs_by_finished_at: in the order of their ends; those that have not ended come last
-- in     $1 to $8 as list_jobs_by_created_at_descending  $9 end to begin after: infinity for those
--        that have not ended  $10 bytes_max
with found as (
    select resting.id, resting.sort_key
    from unnest($1::text[]) as asked (state)
    cross join lateral (
        select job.id, coalesce(to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
                                'never') as sort_key
        from job
        where resting_state = asked.state
          and (coalesce(finished_at, 'infinity'), job.id) > ($9::timestamptz, $7)
          and job_matches(job, $2, $3, $4, $5, $6)
        order by coalesce(finished_at, 'infinity'), job.id
        limit $8
    ) as resting
    union all
    (select waiting.id, 'never' as sort_key
     from queue
     cross join lateral (select job.id
                         from job
                         where job.id = queue.job_id
                           and job_matches(job, $2, $3, $4, $5, $6)
                         offset 0) as waiting
     where 'queued' = any ($1)
       and queue.job_id > case when $9::timestamptz = 'infinity' then $7 else '' end
     order by queue.job_id
     limit $8)
    union all
    select active.id, 'never' as sort_key
    from attempt
    cross join lateral (select job.id
                        from job
                        where job.id = attempt.job_id
                          and state = any ($1)
                          and (coalesce(finished_at, 'infinity'), job.id) > ($9::timestamptz, $7)
                          and job_matches(job, $2, $3, $4, $5, $6)
                        offset 0) as active
    where ended_at is null
), chosen as materialized (
    select id, sort_key
    from found
    order by sort_key collate "C", id
    limit $8
), page as (
    select id, job.name, project, labels, state, reason_code, reason_message, spec, effective,
           progress, best, result, dataset_id, queue_class, event_seq, attempts, restarts, version,
           created_by, created_at, started_at, finished_at, prediction, sort_key
    from chosen
    join job using (id)
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(page::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by sort_key collate "C", id
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $10
order by bytes_before

-- list_jobs_by_finished_at_descending: those that have not ended come first, then the last end
-- in     as list_jobs_by_finished_at
with found as (
    select resting.id, resting.sort_key
    from unnest($1::text[]) as asked (state)
    cross join lateral (
        select job.id, coalesce(to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
                                'never') as sort_key
        from job
        where resting_state = asked.state
          and (coalesce(finished_at, 'infinity'), job.id) < ($9::timestamptz, $7)
          and job_matches(job, $2, $3, $4, $5, $6)
        order by coalesce(finished_at, 'infinity') desc, job.id desc
        limit $8
    ) as resting
    union all
    (select waiting.id, 'never' as sort_key
     from queue
     cross join lateral (select job.id
                         from job
                         where job.id = queue.job_id
                           and job_matches(job, $2, $3, $4, $5, $6)
                         offset 0) as waiting
     where 'queued' = any ($1)
       and queue.job_id < case when $9::timestamptz = 'infinity' then $7 else '' end
     order by queue.job_id desc
     limit $8)
    union all
    select active.id, 'never' as sort_key
    from attempt
    cross join lateral (select job.id
                        from job
                        where job.id = attempt.job_id
                          and state = any ($1)
                          and (coalesce(finished_at, 'infinity'), job.id) < ($9::timestamptz, $7)
                          and job_matches(job, $2, $3, $4, $5, $6)
                        offset 0) as active
    where ended_at is null
), chosen as materialized (
    select id, sort_key
    from found
    order by sort_key collate "C" desc, id desc
    limit $8
), page as (
    select id, job.name, project, labels, state, reason_code, reason_message, spec, effective,
           progress, best, result, dataset_id, queue_class, event_seq, attempts, restarts, version,
           created_by, created_at, started_at, finished_at, prediction, sort_key
    from chosen
    join job using (id)
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(page::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by sort_key collate "C" desc, id desc
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $10
order by bytes_before
