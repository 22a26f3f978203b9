-- list_projects: by name
-- in     $1 names text[] or null: all  $2 name to begin after or null  $3 limit
-- out    usage_core_s: decayed, running jobs included; cores_held, queued_jobs: now
select project.name, project.weight, project.cores_max, project.class_max, project.created_by, project.created_at,
       coalesce((select sum(decayed_usage(core_seconds, at))
                 from current_project_usage as project_usage
                 where project_usage.project = project.name), 0)
       + coalesce(running.core_seconds, 0) as usage_core_s,
       coalesce(running.cores, 0) as cores_held,
       coalesce((select sum(jobs) from current_job_count as job_count
                 where job_count.project = project.name and state = 'queued'), 0)
           ::bigint as queued_jobs
from project
left join (select job.project as name, sum(job.cores)::bigint as cores,
                  sum(job.cores * greatest(0, extract(epoch from statement_timestamp()
                                                                 - attempt.created_at)))
                      ::double precision as core_seconds
           from attempt
           join job on job.id = attempt.job_id
           where attempt.ended_at is null
           group by job.project) as running using (name)
where ($1::text[] is null or project.name = any ($1))
  and ($2::text is null or project.name > $2)
order by project.name
limit $3

-- set_weight: what a project is entitled to
-- in     $1 name  $2 weight
update project
set weight = $2
where name = $1

-- set_quota: what its jobs may hold at a time, and their most urgent class
-- in     $1 name  $2 cores_max or null  $3 class_max or null
update project
set cores_max = $2,
    class_max = $3
where name = $1

-- find_refused_class: why the jobs of a project may not have a class; as job_class_allowed
-- in     $1 project  $2 class
-- out    no row when they may
select class_max,
       format('jobs of project %s may be of class %s at most, not %s', name, class_max, $2::text)
           as message
from project
where name = $1 and queue_class_rank($2) < queue_class_rank(class_max)
