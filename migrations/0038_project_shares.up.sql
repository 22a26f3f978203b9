-- What a project is entitled to, and what it has used. A project was a number for its executors'
-- user; now it is a row with a weight and a quota. Usage is written by each attempt that ends, in a
-- row of its own, so that no two ends wait for each other; the leader adds the rows up.
alter table executor_user rename to project;
alter table project rename column project to name;
alter table project rename constraint executor_user_pkey to project_pkey;
alter table project rename constraint executor_user_number_key to project_number_key;
alter table project rename constraint executor_user_number_check to project_number_check;
alter table project rename constraint executor_user_project_check to project_name_check;
alter index executor_user_maker rename to project_maker;
alter table project
    add column created_at timestamptz default clock_timestamp() not null,
    add column weight double precision default 1 not null,
    add column cores_max integer,
    add constraint project_weight_check check (weight between 0.01 and 1000),
    add constraint project_cores_max_check check (cores_max >= 0);

create table project_usage (
    project      text not null,
    core_seconds double precision not null check (core_seconds >= 0),
    at           timestamptz default clock_timestamp() not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

-- What is left of core-seconds that were used then: half after a day, next to nothing after 1,000.
create function decayed_usage(core_seconds double precision, at timestamptz)
    returns double precision
    language sql stable
    return core_seconds
           * power(2::double precision,
                   - least(1000, greatest(0, extract(epoch from statement_timestamp() - at) / 86400))
                   ::double precision);

-- What each project with ready jobs, and `also` that one, has used: decayed, running jobs included.
create function project_standings(also text default null)
    returns table (project text, weight double precision, used_core_s double precision)
    language plpgsql stable
as $$
begin
    return query
    with recursive present (name) as (
        (select queue.project from queue where ready order by queue.project limit 1)
        union all
        select (select queue.project
                from queue
                where ready and queue.project > present.name
                order by queue.project
                limit 1)
        from present
        where present.name is not null
    ), wanted as (
        select name from present where name is not null
        union
        select also where also is not null
    ), ended as (
        select project_usage.project as name, sum(decayed_usage(core_seconds, at)) as core_seconds
        from project_usage
        group by project_usage.project
    ), running as (
        select job.project as name,
               sum(job.cores * extract(epoch from statement_timestamp() - attempt.created_at))
                   ::double precision as core_seconds
        from attempt
        join job on job.id = attempt.job_id
        where attempt.ended_at is null
        group by job.project
    )
    select wanted.name, coalesce(known.weight, 1),
           coalesce(ended.core_seconds, 0) + coalesce(running.core_seconds, 0)
    from wanted
    left join project as known using (name)
    left join ended using (name)
    left join running using (name);
end
$$;

-- The ready jobs in fair order (scheduler/placement/fair_share.h): by class, then `used`. At least
-- the first `jobs_max`, unless more than 20 projects have jobs: then the last places are rough.
create function ready_in_fair_order(jobs_max bigint)
    returns table (job_id text, project text, class_rank smallint, used double precision,
                   queued_at timestamptz)
    language plpgsql stable
as $$
begin
    return query
    select head.job_id, standing.project, head.class_rank,
           (standing.used_core_s + 60 * head.cores_ahead) / standing.weight, head.queued_at
    from (select all_of_them.*,
                 least(jobs_max, greatest(50, 20000 / count(*) over ())) as jobs_read
          from project_standings() as all_of_them) as standing
    cross join lateral (
        select first.job_id, first.class_rank, first.queued_at,
               coalesce(sum(first.cores) over before_it, 0)::double precision as cores_ahead
        from (select queue.job_id, queue.class_rank, queue.queued_at, queue.cores
              from queue
              where ready and queue.project = standing.project
              order by queue.class_rank::integer, queue.queued_at, queue.job_id
              limit standing.jobs_read) as first
        window before_it as (order by first.class_rank, first.queued_at, first.job_id
                             rows between unbounded preceding and 1 preceding)
    ) as head;
end
$$;

-- The next rows of the queue of each of these projects, after a place in it: no more than a page.
create function queue_pages(projects text[], after_class_rank smallint, after_queued_at timestamptz,
                            after_job_id text, rows_max bigint) returns setof queue
    language plpgsql stable
as $$
begin
    return query
    select of_project.*
    from (select distinct unnest(projects) as name) as asked
    cross join lateral (select *
                        from queue
                        where queue.project = asked.name
                          and (queue.class_rank, queue.queued_at, queue.job_id)
                            > (after_class_rank, after_queued_at, after_job_id)
                        order by queue.class_rank, queue.queued_at, queue.job_id
                        limit rows_max) as of_project;
end
$$;

-- What the limits of time leave to a job, in seconds, its live attempt included; null: no limit.
create function time_left_s(about job) returns double precision
    language plpgsql stable
as $$
declare
    limit_s double precision := least((about.spec -> 'limits' ->> 'max_wall_s')::double precision,
                                      (about.spec -> 'limits' ->> 'max_core_s')::double precision
                                      / about.cores);
begin
    if limit_s is null then
        return null;
    end if;
    return greatest(0, limit_s - coalesce(
        (select sum(extract(epoch from ended_at - started_at))
         from attempt
         where job_id = about.id and ended_at is not null and started_at is not null), 0));
end
$$;

-- The heads of each project's shapes, and the ready jobs of a project in their order. The class is an
-- expression, and so it is where they are read: else the planner may walk all of queue_order and
-- drop what other projects have, half a second for a project behind 500,000 jobs of others.
create index queue_ready_shape
    on queue (project, shape, (class_rank::integer), queued_at, job_id) where ready;
create index queue_ready_project
    on queue (project, (class_rank::integer), queued_at, job_id) where ready;
drop index queue_ready;
