create or replace function standings_of(projects text[], also text, ids text[], numbers integer[])
    returns table (
        project     text,
        weight      double precision,
        used_core_s double precision
    )
    language plpgsql stable
as $$
begin
    if projects is null then
        projects := array(
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
            )
            select name from present where name is not null);
    end if;
    return query
    with wanted as (
        select unnest(projects) as name
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
        from live_attempts(ids, numbers) as attempt
        cross join lateral (select job.project, job.cores
                            from job
                            where job.id = attempt.job_id
                            offset 0) as job
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

drop view current_project_usage;
drop view current_job_count;
alter table project_usage drop column is_total;
alter table job_count drop column is_total;
