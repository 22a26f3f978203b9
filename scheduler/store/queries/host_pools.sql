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
