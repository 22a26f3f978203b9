-- add_decisions: what was decided on jobs that are there
-- in     $1 job ids  $2 kinds  $3 codes  $4 messages  $5 related jobs or ''  $6 hosts or ''
--        $7 cores as '{1,2}' or ''  $8 fences, all text[]: of a start that made its attempt; or ''
insert into decision (job_id, project, kind, code, message, related_job, host, cores)
select job.id, job.project, made.kind, made.code, made.message, nullif(made.related_job, ''),
       nullif(made.host, ''), nullif(made.cores, '')::smallint[]
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
            $8::text[])
     with ordinality as made (job_id, kind, code, message, related_job, host, cores, fence, place)
-- By the index, whatever the plan that is kept has assumed of the number of jobs and attempts.
cross join lateral (select id, project
                    from job
                    where id = made.job_id
                      and (made.fence = ''
                           or made.fence = (select fence
                                            from attempt
                                            where attempt.job_id = job.id
                                              and attempt.attempt = job.attempts))
                    offset 0) as job
order by made.place

-- list_decisions_page: the newest first
-- in     $1 id to begin after or null  $2 limit  then $3 of the two forms that narrow it
-- form list_decisions
--   @SOURCE@ (select * from decision where id < coalesce($1::bigint, 9223372036854775807) order by id desc limit $2)
-- form list_decisions_of_job
--   @SOURCE@ (select * from decision where job_id = $3 and id < coalesce($1::bigint, 9223372036854775807) and ($4::text[] is null or project = any ($4)) order by id desc limit $2)
-- form list_decisions_of_projects
--   @SOURCE@ (select distinct unnest($3::text[]) as name) as asked cross join lateral (select * from decision where project = asked.name and id < coalesce($1::bigint, 9223372036854775807) order by id desc limit $2)
select id, at, job_id, project, kind, code, message, host, cores, related_job
from @SOURCE@ as listed
order by id desc
limit $2

-- prune_decisions: the oldest, when they are too old or too many
-- in     $1 age in seconds  $2 how many are kept  $3 how many at once
delete from decision
where id in (select id
             from (select id, at
                   from decision
                   order by id
                   limit $3) as oldest
             where at < clock_timestamp() - make_interval(secs => $1)
                or id <= (select max(id) from decision) - $2::bigint)
