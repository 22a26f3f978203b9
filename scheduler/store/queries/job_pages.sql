-- Pages of jobs in some states, or in some order. Three places have them in order, and none is
-- read past its page: the jobs that rest (paused, ended) by their indexes; those that wait by the
-- queue; those that hold cores, of which there are few, by their live attempts. Each gives the
-- beginning of its part, and the page is the beginning of these together. `offset 0` has jobs
-- looked up one by one: a merge with the table would walk it from its beginning. The lists of own
-- jobs have no trials and folds, of which a million may have ended last: they have indexes of their
-- own.

-- list_jobs_by: a page of the jobs in these states, in one of the orders of the API
-- in     $1 states text[]  $2 to $9 as $1 to $8 of list_newest_jobs
--        $10 id to begin after  $11 limit  then, for names and ends, the key to begin after: infinity
--        for jobs that have not ended; for created_at_within the id at which the list ends at the
--        latest (a second bound in the others would have their pages sorted, since PostgreSQL takes
--        two bounds that it does not know for a narrow range); then bytes_max; the last one are the
--        ids of the jobs with the name, where they are few, or null
-- out    as list_newest_jobs
-- form list_jobs_by_created_at
--   @KEY@ ''
--   @AFTER@ job.id > $10
--   @ORDER@ job.id
--   @WAITING_KEY@ ''
--   @QUEUE_AFTER@ queue.job_id > $10
--   @QUEUE_ORDER@ queue.job_id
--   @WAY@
--   @OWN@
--   @BYTES@ $12
--   @NAMED@ $13::text[]
-- form list_jobs_by_created_at_descending
--   @KEY@ ''
--   @AFTER@ job.id < $10
--   @ORDER@ job.id desc
--   @WAITING_KEY@ ''
--   @QUEUE_AFTER@ queue.job_id < $10
--   @QUEUE_ORDER@ queue.job_id desc
--   @WAY@ desc
--   @OWN@
--   @BYTES@ $12
--   @NAMED@ $13::text[]
-- form list_own_jobs_by_created_at_descending
--   @KEY@ ''
--   @AFTER@ job.id < $10
--   @ORDER@ job.id desc
--   @WAITING_KEY@ ''
--   @QUEUE_AFTER@ queue.job_id < $10
--   @QUEUE_ORDER@ queue.job_id desc
--   @WAY@ desc
--   @OWN@ and job.parent_id is null
--   @BYTES@ $12
--   @NAMED@ $13::text[]
-- form list_jobs_by_created_at_within
--   @KEY@ ''
--   @AFTER@ job.id > $10 and job.id < $12
--   @ORDER@ job.id
--   @WAITING_KEY@ ''
--   @QUEUE_AFTER@ queue.job_id > $10 and queue.job_id < $12
--   @QUEUE_ORDER@ queue.job_id
--   @WAY@
--   @OWN@
--   @BYTES@ $13
--   @NAMED@ $14::text[]
-- form list_jobs_by_created_at_within_descending
--   @KEY@ ''
--   @AFTER@ job.id < $10 and job.id > $12
--   @ORDER@ job.id desc
--   @WAITING_KEY@ ''
--   @QUEUE_AFTER@ queue.job_id < $10 and queue.job_id > $12
--   @QUEUE_ORDER@ queue.job_id desc
--   @WAY@ desc
--   @OWN@
--   @BYTES@ $13
--   @NAMED@ $14::text[]
-- form list_jobs_by_name
--   @KEY@ job.name
--   @AFTER@ (job.name collate "C", job.id) > ($12::text, $10)
--   @ORDER@ job.name collate "C", job.id
--   @WAITING_KEY@ queue.name
--   @QUEUE_AFTER@ (queue.name collate "C", queue.job_id) > ($12::text, $10)
--   @QUEUE_ORDER@ queue.name collate "C", queue.job_id
--   @WAY@
--   @OWN@
--   @BYTES@ $13
--   @NAMED@ $14::text[]
-- form list_jobs_by_name_descending
--   @KEY@ job.name
--   @AFTER@ (job.name collate "C", job.id) < ($12::text, $10)
--   @ORDER@ job.name collate "C" desc, job.id desc
--   @WAITING_KEY@ queue.name
--   @QUEUE_AFTER@ (queue.name collate "C", queue.job_id) < ($12::text, $10)
--   @QUEUE_ORDER@ queue.name collate "C" desc, queue.job_id desc
--   @WAY@ desc
--   @OWN@
--   @BYTES@ $13
--   @NAMED@ $14::text[]
-- form list_jobs_by_finished_at
--   @KEY@ coalesce(to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), 'never')
--   @AFTER@ (coalesce(finished_at, 'infinity'), job.id) > ($12::timestamptz, $10)
--   @ORDER@ coalesce(finished_at, 'infinity'), job.id
--   @WAITING_KEY@ 'never'
--   @QUEUE_AFTER@ queue.job_id > case when $12::timestamptz = 'infinity' then $10 else '' end
--   @QUEUE_ORDER@ queue.job_id
--   @WAY@
--   @OWN@
--   @BYTES@ $13
--   @NAMED@ $14::text[]
-- form list_jobs_by_finished_at_descending
--   @KEY@ coalesce(to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), 'never')
--   @AFTER@ (coalesce(finished_at, 'infinity'), job.id) < ($12::timestamptz, $10)
--   @ORDER@ coalesce(finished_at, 'infinity') desc, job.id desc
--   @WAITING_KEY@ 'never'
--   @QUEUE_AFTER@ queue.job_id < case when $12::timestamptz = 'infinity' then $10 else '' end
--   @QUEUE_ORDER@ queue.job_id desc
--   @WAY@ desc
--   @OWN@
--   @BYTES@ $13
--   @NAMED@ $14::text[]
-- form list_own_jobs_by_finished_at_descending
--   @KEY@ coalesce(to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), 'never')
--   @AFTER@ (coalesce(finished_at, 'infinity'), job.id) < ($12::timestamptz, $10)
--   @ORDER@ coalesce(finished_at, 'infinity') desc, job.id desc
--   @WAITING_KEY@ 'never'
--   @QUEUE_AFTER@ queue.job_id < case when $12::timestamptz = 'infinity' then $10 else '' end
--   @QUEUE_ORDER@ queue.job_id desc
--   @WAY@ desc
--   @OWN@ and job.parent_id is null
--   @BYTES@ $13
--   @NAMED@ $14::text[]
with found as (
    select resting.id, resting.sort_key
    from unnest($1::text[]) as asked (state)
    cross join lateral (
        select job.id, @KEY@ as sort_key
        from job
        where resting_state = asked.state
          @OWN@
          and @AFTER@
          and (@NAMED@ is null or job.id = any (@NAMED@))
          and job_matches(job, $2, $3, $4, $5, $6, $7::tstzrange, $8::tstzrange,
                          $9)
        order by @ORDER@
        limit $11
    ) as resting
    union all
    (select waiting.id, @WAITING_KEY@ as sort_key
     from queue
     cross join lateral (select job.id
                         from job
                         where job.id = queue.job_id
                           and job_matches(job, $2, $3, $4, $5, $6, $7::tstzrange, $8::tstzrange,
                                           $9)
                         offset 0) as waiting
     where 'queued' = any ($1)
       and @QUEUE_AFTER@
       and (@NAMED@ is null or queue.job_id = any (@NAMED@))
     order by @QUEUE_ORDER@
     limit $11)
    union all
    select active.id, active.sort_key
    from attempt
    cross join lateral (select job.id, @KEY@ as sort_key
                        from job
                        where job.id = attempt.job_id
                          and state = any ($1)
                          and @AFTER@
                          and job_matches(job, $2, $3, $4, $5, $6, $7::tstzrange, $8::tstzrange,
                                          $9)
                        offset 0) as active
    where ended_at is null
), chosen as materialized (
    select id, sort_key
    from found
    order by sort_key collate "C" @WAY@, id @WAY@
    limit $11
), page as materialized (
    select id, job.name, project, labels::text as labels, state, reason_code, reason_message,
           spec::text as spec, effective::text as effective, progress::text as progress,
           best::text as best, result::text as result, dataset_id, queue_class, event_seq, attempts,
           restarts, version, created_by, created_at, started_at, finished_at, kind,
           payload::text as payload, origin_action, origin_job_id, continues_from, pruned,
           traceparent, parent_id, parent_key, sort_key
    from chosen
    join job using (id)
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(600 + octet_length(concat(name, labels, reason_message, spec, effective,
                                                  progress, best, result, payload)))
                    over before_it, 0) as bytes_before
    from page
    window before_it as (order by sort_key collate "C" @WAY@, id @WAY@
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < @BYTES@
order by bytes_before

-- list_jobs_by_metric: a page of the jobs in these states that have a value of a metric, by the last,
-- the lowest or the highest one. The jobs that have ended are read in order by an index; those that
-- have not are few.
-- in     $1 to $11 as of list_jobs_by  $12 value to begin after  $13 bytes_max  $14 name of the metric
--        $15 ids of the jobs with the name, as of list_jobs_by
-- out    as list_newest_jobs; order_value
-- form list_jobs_by_lowest
--   @VALUE@ low
--   @CMP@ >
--   @WAY@
-- form list_jobs_by_lowest_descending
--   @VALUE@ low
--   @CMP@ <
--   @WAY@ desc
-- form list_jobs_by_highest
--   @VALUE@ high
--   @CMP@ >
--   @WAY@
-- form list_jobs_by_highest_descending
--   @VALUE@ high
--   @CMP@ <
--   @WAY@ desc
-- form list_jobs_by_last
--   @VALUE@ last
--   @CMP@ >
--   @WAY@
-- form list_jobs_by_last_descending
--   @VALUE@ last
--   @CMP@ <
--   @WAY@ desc
with found as (
    (select value.job_id as id, value.@VALUE@ as sort_value
     from job_metric as value
     cross join lateral (select job.id
                         from job
                         where job.id = value.job_id
                           and state = any ($1)
                           and job_matches(job, $2, $3, $4, $5, $6, $7::tstzrange, $8::tstzrange,
                                           $9)
                         offset 0) as matching
     where value.name = $14
       and ($15::text[] is null or value.job_id = any ($15))
       and value.@VALUE@ is not null
       and (value.@VALUE@, value.job_id) @CMP@ ($12::double precision, $10)
     order by value.@VALUE@ @WAY@, value.job_id @WAY@
     limit $11)
    union all
    (select value.job_id as id, value.@VALUE@ as sort_value
     from live_job_metric as value
     cross join lateral (select job.id
                         from job
                         where job.id = value.job_id
                           and state = any ($1)
                           and job_matches(job, $2, $3, $4, $5, $6, $7::tstzrange, $8::tstzrange,
                                           $9)
                         offset 0) as matching
     where value.name = $14
       and ($15::text[] is null or value.job_id = any ($15))
       and value.@VALUE@ is not null
       and (value.@VALUE@, value.job_id) @CMP@ ($12::double precision, $10)
     order by value.@VALUE@ @WAY@, value.job_id @WAY@
     limit $11)
), chosen as materialized (
    select id, sort_value
    from found
    order by sort_value @WAY@, id @WAY@
    limit $11
), page as materialized (
    select id, job.name, project, labels::text as labels, state, reason_code, reason_message,
           spec::text as spec, effective::text as effective, progress::text as progress,
           best::text as best, result::text as result, dataset_id, queue_class, event_seq, attempts,
           restarts, version, created_by, created_at, started_at, finished_at, kind,
           payload::text as payload, origin_action, origin_job_id, continues_from, pruned,
           traceparent, parent_id, parent_key, sort_value as order_value,
           sort_value::text as sort_key
    from chosen
    join job using (id)
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(600 + octet_length(concat(name, labels, reason_message, spec, effective,
                                                  progress, best, result, payload)))
                    over before_it, 0) as bytes_before
    from page
    window before_it as (order by order_value @WAY@, id @WAY@
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $13
order by bytes_before
