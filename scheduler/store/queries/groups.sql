-- list_groups: the groups of a project, by name
-- in     $1 project  $2 name of the only one or null  $3 name to begin after or null  $4 limit
-- out    running: jobs that hold cores; ready: waiting jobs that may start, at most 1,001
select job_group.project, job_group.name, job_group.jobs_max,
       (select count(*)
        from attempt
        join job on job.id = attempt.job_id
        where attempt.ended_at is null and job.project = job_group.project
          and job.spec #>> '{queue,group}' = job_group.name) as running,
       (select count(*)
        from (select
              from queue
              where ready and project = job_group.project and group_name = job_group.name
              limit 1001) as waiting) as ready
from job_group
where project = $1
  and ($2::text is null or name = $2)
  and ($3::text is null or name > $3)
order by name
limit $4

-- set_group_limit: the limit from now on
-- in     $1 project  $2 name  $3 jobs_max
select keep_group($1, $2, $3, true)

-- prune_groups: forgets groups without queued jobs that nobody has changed for long
-- in     $1 age in seconds  $2 how many at once
with old as (
    select project, name
    from job_group
    where changed_at < clock_timestamp() - make_interval(secs => $1)
      and not exists (select from queue
                      where queue.project = job_group.project
                        and queue.group_name = job_group.name)
    limit $2
    for update skip locked
)
delete from job_group
using old
where job_group.project = old.project and job_group.name = old.name
