-- Changes that were added up stay in their tables as long as some transaction is held open, and each
-- reading of the sums read over all of them. Now a sum says that it is one, and of the changes only
-- those are read that are not older than the newest sum: five seconds less, for transactions that
-- were under way. Decision 0072.
alter table job_count add column is_total boolean not null default false;
create index job_count_totals on job_count (at) where is_total;
create index job_count_changes on job_count (at) where not is_total;
create view current_job_count as
    select * from job_count where is_total
    union all
    select *
    from job_count
    where not is_total
      and at >= coalesce((select max(at) from job_count where is_total), '-infinity')
                - interval '5 seconds';

alter table project_usage add column is_total boolean not null default false;
create index project_usage_totals on project_usage (at) where is_total;
create index project_usage_changes on project_usage (at) where not is_total;
create view current_project_usage as
    select * from project_usage where is_total
    union all
    select *
    from project_usage
    where not is_total
      and at >= coalesce((select max(at) from project_usage where is_total), '-infinity')
                - interval '5 seconds';

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
        from current_project_usage as project_usage
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
