-- Sweeps, their logs and their trials (scheduler/store/sweeps.h).

-- lock_project_sweeps: until the transaction ends, two that are made at a time count each other
-- in     $1 project
-- locks  the project's number
select pg_advisory_xact_lock(hashtextextended('slipway sweeps ' || $1, 0))

-- count_project_sweeps: those that have not ended. A statement of its own behind lock_project_sweeps:
-- one that waited for the lock would count what was there before it waited
-- in     $1 project
select count(*) as sweeps
from sweep
where project = $1 and finished_at is null

-- insert_sweep: a sweep
-- in     $1 id  $2 name  $3 project  $4 labels  $5 spec  $6 max_trials  $7 max_concurrent
--        $8 external  $9 created_by  $10 known  $11 split_id or null
insert into sweep (id, name, project, labels, spec, max_trials, max_concurrent, external,
                   created_by, known, split_id)
values ($1, $2, $3, $4::jsonb, $5::jsonb, $6, $7, $8, $9, $10::json, $11)

-- find_sweep: one sweep
-- in     $1 id
select id, name, project, labels, state, reason_code, reason_message, spec, max_trials, max_concurrent,
       external, seq, trials, running, paused, completed, stopped, failed, best_trial, best_value,
       split_id, folds, version, created_by, created_at, finished_at
from sweep
where id = $1

-- list_sweeps: a page of sweeps, newest first
-- in     $1 projects text[]  $2 states text[]  $3 name pattern  $4 labels; null = no such condition
--        $5 id to begin after or null  $6 limit  $7 bytes_max
-- out    rows_found: also those left out because the rows before them have bytes_max
with page as materialized (
    select id, name, project, labels, state, reason_code, reason_message, spec, max_trials, max_concurrent,
           external, seq, trials, running, paused, completed, stopped, failed, best_trial, best_value,
           split_id, folds, version, created_by, created_at, finished_at
    from sweep
    where ($1::text[] is null or project = any ($1))
      and ($2::text[] is null or state = any ($2))
      and ($3::text is null or name ilike $3)
      and ($4::jsonb is null or labels @> $4::jsonb)
      and ($5::text is null or id < $5)
    order by id desc
    limit $6
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(600 + octet_length(concat(name, labels, spec))) over before_it, 0)
               as bytes_before
    from page
    window before_it as (order by id desc rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $7
order by id desc

-- list_active_sweeps: those that a coordinator looks at, the oldest first
-- in     $1 limit
select id, version, project, created_by
from sweep
where finished_at is null and not external
order by id
limit $1

-- list_untidied_sweeps: those that have ended and whose checkpoints were not looked at since
-- in     $1 limit
select id
from sweep
where finished_at is not null and not tidied
order by id
limit $1

-- mark_sweep_tidied: unless it goes on
-- in     $1 id
update sweep
set tidied = true
where id = $1 and finished_at is not null

-- list_idle_sweep_checkpoints: of jobs of the sweep that have ended; nobody has pinned or needs them
-- in     $1 sweep_id  $2 id to begin after  $3 limit
select checkpoint.id, checkpoint.job_id, job.parent_key, checkpoint.step, checkpoint.epoch,
       checkpoint.metric_name, checkpoint.metric_value
from job
join checkpoint on checkpoint.job_id = job.id
where job.parent_id = $1
  and job.finished_at is not null
  and checkpoint.id > $2
  and checkpoint.deleted_at is null
  and not checkpoint.pinned
  and not exists (select from checkpoint_use where checkpoint_id = checkpoint.id)
order by checkpoint.id
limit $3

-- list_whole_sweep_reports: jobs of the sweep that have ended and whose reports have all their parts
-- in     $1 sweep_id  $2 id to begin after  $3 limit
select job.id, job.parent_key
from job
where job.parent_id = $1
  and job.finished_at is not null
  and job.id > $2
  and not exists (select from trimmed_report where job_id = job.id)
order by job.id
limit $3

-- trim_reports: the programs, the timeline and the run folders of these jobs are garbage from now on
-- in     $1 job_ids text[]
-- out    the jobs; those that were trimmed before, or are gone, are left out
with trimmed as (
    insert into trimmed_report (job_id)
    select job.id
    from job
    where job.id = any ($1::text[])
    order by job.id
    for key share
    on conflict do nothing
    returning job_id
), hosts as (
    select distinct trimmed.job_id, member.host
    from trimmed
    join attempt_member as member on member.job_id = trimmed.job_id
), kept as (
    insert into garbage (path, host)
    select kind || '/' || job_id || part, host
    from hosts
    cross join (values ('reports', '/graphs'), ('reports', '/trace.json'), ('runs', ''))
        as parts (kind, part)
    order by host, job_id, kind, part
)
select job_id
from trimmed

-- is_report_trimmed: whether a job's programs and timeline were deleted
-- in     $1 job_id
select exists (select from trimmed_report where job_id = $1) as trimmed

-- find_known_results: what a sweep knew when it began
-- in     $1 id
select known
from sweep
where id = $1

-- list_sweep_trials: a page of trials by number
-- in     $1 sweep_id  $2 states text[] or null  $3 number to begin after or null  $4 limit
--        $5 bytes_max
-- form list_sweep_trials_by_number
--   @AFTER@ number > $3::integer
--   @ORDER@ number
-- form list_sweep_trials_by_value
--   @AFTER@ value is not null and (value, number) > ((select value from sweep_trial where sweep_id = $1 and number = $3::integer), $3::integer)
--   @ORDER@ value, number
-- form list_sweep_trials_by_value_descending
--   @AFTER@ value is not null and (-value, number) > ((select -value from sweep_trial where sweep_id = $1 and number = $3::integer), $3::integer)
--   @ORDER@ value desc, number
with page as (
    select *
    from sweep_trial
    where sweep_id = $1
      and ($2::text[] is null or state = any ($2))
      and ($3::integer is null or (@AFTER@))
      and ('@ORDER@' = 'number' or value is not null)
    order by @ORDER@
    limit $4
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(page::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by @ORDER@
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $5
order by bytes_before

-- all_sweep_trials: every trial, by number
-- in     $1 sweep_id
select *
from sweep_trial
where sweep_id = $1
order by number

-- list_failed_trials: with what is known of the newest job of each
-- in     $1 sweep_id
-- out    state is null when the job is gone or was never made
select trial.number, trial.reason, trial.job_id, job.state, job.reason_code, job.reason_message
from sweep_trial as trial
left join job on job.id = trial.job_id
where trial.sweep_id = $1 and trial.state = 'failed'
order by trial.number

-- find_sweep_trial: one trial
-- in     $1 sweep_id  $2 number
select *
from sweep_trial
where sweep_id = $1 and number = $2

-- list_sweep_events: the log in order
-- in     $1 sweep_id  $2 seq to begin after  $3 limit  $4 bytes_max
with page as (
    select seq, at, event, decisions
    from sweep_event
    where sweep_id = $1 and seq > $2
    order by seq
    limit $3
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(event::text) + octet_length(decisions::text))
                    over before_it, 0) as bytes_before
    from page
    window before_it as (order by seq rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $4
order by seq

-- list_events_of_sweeps: the next lines of the logs of many, as list_events_of_jobs: what the
-- algorithm was told and decided (entry), states, and the last of them (end)
-- in     $1 ids text[]  $2 after seqs bigint[]  $3 limit of each  $4 bytes_max of each
select event.sweep_id as job_id, event.seq, event.type, event.body, event.at as created_at
from unnest($1::text[], $2::bigint[]) as reader (id, after_seq)
cross join lateral (
    select page.*, coalesce(sum(octet_length(body::text)) over before_it, 0) as bytes_before
    from (
        select sweep_id, seq, at,
               case when event ->> 'type' <> 'state' then 'entry'
                    when event ->> 'state' in ('finished', 'stopped', 'failed') then 'end'
                    else 'state' end as type,
               case when event ->> 'type' = 'state' then (event::jsonb - 'type')::json
                    else json_build_object('event', event, 'decisions', decisions) end as body
        from sweep_event
        where sweep_id = reader.id and seq > reader.after_seq
        order by seq
        limit $3
    ) as page
    window before_it as (order by seq rows between unbounded preceding and 1 preceding)
) as event
where event.bytes_before < $4
order by event.sweep_id, event.seq

-- find_sweep_heads: how far the logs of some go
-- in     $1 ids text[]
select id, project, seq as event_seq, finished_at is not null as ended
from sweep
where id = any ($1::text[])
order by id

-- list_open_trial_jobs: the jobs of trials whose ends have not been taken into account, of many sweeps
-- in     $1 sweep_ids text[]
-- out    state is null when the job is gone
select trial.sweep_id, trial.number, trial.job_id, job.state, job.reason_code, job.reason_message,
       coalesce(hashtextextended(concat(job.state, job.progress, job.attempts, job.version), 0), 0)
           as seen
from sweep_trial as trial
left join lateral (select state, reason_code, reason_message, progress, attempts, version
                   from job
                   where id = trial.job_id
                   offset 0) as job on true
where trial.sweep_id = any ($1::text[]) and trial.job_open
order by trial.sweep_id, trial.number

-- sweep_core_seconds: that attempts of the jobs of a parent have used
-- in     $1 parent_id
select coalesce(sum(cardinality(member.cores)
                    * greatest(0, extract(epoch from coalesce(attempt.ended_at, clock_timestamp())
                                                     - attempt.created_at))), 0)::double precision
           as core_seconds
from job
join attempt on attempt.job_id = job.id
join attempt_member as member
    on member.job_id = attempt.job_id and member.attempt = attempt.attempt
where job.parent_id = $1

-- find_job_of_parent: the newest job of a part that has succeeded
-- in     $1 parent_id  $2 parent_key
select id
from job
where parent_id = $1 and parent_key = $2 and state = 'succeeded'
order by id desc
limit 1

-- lock_sweep: its version and the end of its log, until the transaction ends
-- in     $1 id
-- locks  the sweep's row
select version, seq, state, finished_at
from sweep
where id = $1
for no key update

-- change_sweep: a step; null leaves as it is
-- in     $1 id  $2 seq  $3 state  $4 reason_code  $5 reason_message  $6 trials  $7 running
--        $8 paused  $9 completed  $10 stopped  $11 failed  $12 best_trial  $13 best_value
--        $14 max_trials  $15 max_concurrent  $16 name  $17 labels  $18 folds
update sweep
set seq            = $2,
    version        = version + 1,
    state          = coalesce($3, state),
    reason_code    = case when $3 is null then reason_code else $4 end,
    reason_message = case when $3 is null then reason_message else $5 end,
    finished_at    = case when coalesce($3, state) in ('running', 'paused', 'stopping') then null
                          else coalesce(finished_at, clock_timestamp()) end,
    trials         = coalesce($6, trials),
    running        = coalesce($7, running),
    paused         = coalesce($8, paused),
    completed      = coalesce($9, completed),
    stopped        = coalesce($10, stopped),
    failed         = coalesce($11, failed),
    best_trial     = coalesce($12, best_trial),
    best_value     = coalesce($13, best_value),
    max_trials     = coalesce($14, max_trials),
    max_concurrent = coalesce($15, max_concurrent),
    name           = coalesce($16, name),
    labels         = coalesce($17::jsonb, labels),
    folds          = coalesce($18::json, folds),
    tidied         = false
where id = $1

-- insert_sweep_events: lines of the log
-- in     $1 sweep_id  then arrays: $2 seq bigint[]  $3 event  $4 decisions
insert into sweep_event (sweep_id, seq, event, decisions)
select $1, seq, event::json, decisions::json
from unnest($2::bigint[], $3::text[], $4::text[]) as one (seq, event, decisions)

-- put_sweep_trials: new or changed trials
-- in     $1 sweep_id  then an array of objects: $2
insert into sweep_trial (sweep_id, number, state, point, train_until, reports, last_time,
                         last_value, value, value_time, lineage, job_id, job_open, jobs, reason,
                         fold_values, ended_at)
select $1, number, state, point, train_until, reports, last_time, last_value, value, value_time,
       lineage, job_id, job_open, jobs, reason, fold_values,
       case when state in ('completed', 'stopped', 'failed') then clock_timestamp() end
from json_to_recordset($2::json)
     as one (number integer, state text, point json, train_until bigint, reports integer,
             last_time bigint, last_value double precision, value double precision,
             value_time bigint, lineage json, job_id text, job_open boolean, jobs integer,
             reason text, fold_values json)
on conflict (sweep_id, number) do update
set state       = excluded.state,
    point       = excluded.point,
    train_until = excluded.train_until,
    reports     = excluded.reports,
    last_time   = excluded.last_time,
    last_value  = excluded.last_value,
    value       = excluded.value,
    value_time  = excluded.value_time,
    lineage     = excluded.lineage,
    job_id      = excluded.job_id,
    job_open    = excluded.job_open,
    jobs        = excluded.jobs,
    reason      = excluded.reason,
    fold_values = excluded.fold_values,
    ended_at    = case when excluded.ended_at is null then null
                       else coalesce(sweep_trial.ended_at, excluded.ended_at) end

-- find_job_of_sweep: a job that the sweep still has
-- in     $1 id
select id
from job
where parent_id = $1
limit 1

-- delete_sweep: with its log and its trials
-- in     $1 id
delete from sweep
where id = $1
