-- list_pools: those that a host is of, living or not
select distinct pool
from host
where removed_at is null
order by pool

-- find_default_pool: of jobs that name none; '' is any
select pool from default_pool

-- set_default_pool: of jobs that are queued from now on and name none
-- in     $1 pool
-- out    no row changed when it is so already
update default_pool set pool = $1 where pool <> $1

-- list_time_limits: of jobs that state none
-- out    pool: 'any' of jobs that run on all hosts; max_wall_s
select pool, max_wall_s
from pool_time_limit
order by pool

-- set_time_limits: these and no others, for jobs that are submitted from now on
-- in     $1 pools text[]  $2 seconds double precision[]
with forgotten as (
    delete from pool_time_limit
    where pool <> all ($1::text[])
)
insert into pool_time_limit as present (pool, max_wall_s)
select pool, seconds
from unnest($1::text[], $2::double precision[]) as given (pool, seconds)
on conflict (pool) do update
set max_wall_s = excluded.max_wall_s
where present.max_wall_s <> excluded.max_wall_s

-- find_time_limit: of a job that names this pool, '' none
-- in     $1 pool
-- out    max_wall_s; no row: no limit
select max_wall_s
from pool_time_limit
where pool = case $1::text
                 when '' then (select coalesce(nullif(default_pool.pool, ''), 'any')
                               from default_pool)
                 else $1
             end

-- count_ready_of_pools: ready jobs of each pool, of each project at most 1,000
-- in     $1 projects text[] or null: all
select present.pool, sum(counted.jobs)::bigint as jobs
from ready_pools(null) as present
cross join lateral (select count(*) as jobs
                    from (select
                          from queue
                          where ready and project = present.project and pool = present.pool
                          limit 1000) as first) as counted
where present.pool <> '' and ($1::text[] is null or present.project = any ($1))
group by present.pool
