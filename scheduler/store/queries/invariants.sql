-- What must hold at any moment, each as the rows that break it. One statement sees one moment, so
-- they may run beside a service that works. All have
-- in     $1 the most rows
-- out    object: what it is about; detail: what is wrong with it

-- break_one_end: a job has ended once or not at all
with ends as (
    select job_id, count(*) as count
    from job_event
    where type = 'end'
    group by job_id
)
select job.id as object,
       format('it is %s, finished_at is %s, and it has %s events `end`', job.state,
              coalesce(job.finished_at::text, 'null'), coalesce(ends.count, 0)) as detail
from job
join job_state on job_state.name = job.state
left join ends on ends.job_id = job.id
where job_state.final <> (job.finished_at is not null)
   or coalesce(ends.count, 0) <> job_state.final::integer
order by job.id
limit $1

-- break_legal_history: the states of a job are a path of the table of moves that ends where it is
with history as (
    select job_id, seq, body ->> 'state' as state,
           lag(body ->> 'state') over (partition by job_id order by seq) as before,
           lead(seq) over (partition by job_id order by seq) is null as is_last
    from job_event
    where type = 'state'
)
select job.id as object,
       format('event %s: from %s to %s; the job is %s', history.seq,
              coalesce(history.before, 'nothing'), history.state, job.state) as detail
from history
join job on job.id = history.job_id
where (history.before is null and history.state <> 'queued')
   or (history.before is not null
       and not exists (select from job_transition
                       where from_state = history.before and to_state = history.state))
   or (history.is_last and history.state <> job.state)
order by job.id, history.seq
limit $1

-- break_gap_free_events: the events of a job are numbered 1, 2, 3 … up to the number in its row,
-- but for those that retention has pruned
select job.id as object,
       format('its row says %s, and it has %s events up to %s', job.event_seq, counted.count,
              counted.newest) as detail
from job
cross join lateral (select count(*), max(seq) as newest from job_event
                    where job_id = job.id) as counted
where counted.newest is distinct from job.event_seq
   or (counted.count <> job.event_seq and not job.pruned && array['events', 'logs'])
order by job.id
limit $1

-- break_numbered_attempts: the attempts of a job are numbered 1, 2, 3 … up to the number in its row
select job.id as object,
       format('its row says %s, and it has %s attempts up to %s', job.attempts, counted.count,
              counted.newest) as detail
from job
cross join lateral (select count(*), coalesce(max(attempt), 0) as newest from attempt
                    where job_id = job.id) as counted
where (counted.count, counted.newest) is distinct from (job.attempts::bigint, job.attempts)
order by job.id
limit $1

-- break_one_live_attempt: a job has a live attempt while, and only while, it is active
select job.id as object,
       format('it is %s and has %s live attempts', job.state, live.count) as detail
from job
cross join lateral (select count(*) from attempt
                    where job_id = job.id and ended_at is null) as live
where live.count <> (job.state in ('starting', 'compiling', 'running', 'finishing', 'preempting',
                                   'pausing', 'cancelling'))::integer
order by job.id
limit $1

-- break_leases_of_live_attempts: a live attempt has the cores of its members, and nobody else has any
with held as (
    select job_id, attempt, host, array_agg(core order by core) as cores
    from lease
    group by job_id, attempt, host
), wanted as (
    select job_id, attempt, host, cores
    from attempt_member
    join attempt using (job_id, attempt)
    where ended_at is null
)
select format('%s attempt %s', job_id, attempt) as object,
       format('it leases %s of %s and its member has %s', coalesce(held.cores::text, 'nothing'),
              host, coalesce(wanted.cores::text, 'ended')) as detail
from held
full join wanted using (job_id, attempt, host)
where held.cores is distinct from wanted.cores
order by job_id, attempt
limit $1

-- break_members: a live attempt has members 0, 1, 2 … each on a host of its own; one of several is a
-- slice of whole hosts; its job has the cores of all of them
select format('%s attempt %s', attempt.job_id, attempt.attempt) as object,
       format('it has ranks %s with %s cores of %s', member.ranks::text, member.cores,
              job.cores) as detail
from attempt
join job on job.id = attempt.job_id
left join lateral (select array_agg(rank::integer order by rank) as ranks,
                          coalesce(sum(cardinality(cores)), 0) as cores,
                          count(distinct host) as hosts, min(cardinality(cores)) as fewest,
                          max(cardinality(cores)) as most
                   from attempt_member
                   where job_id = attempt.job_id and attempt = attempt.attempt) as member on true
where attempt.ended_at is null
  and (member.ranks is distinct from array(select generate_series(0, member.hosts::integer - 1))
       or member.fewest <> member.most or member.cores <> job.cores)
order by attempt.job_id
limit $1

-- break_queue_of_queued_jobs: a job is in the queue while, and only while, it is queued
select coalesce(job.id, queue.job_id) as object,
       case when queue.job_id is null then 'it is queued and not in the queue'
            else format('it is %s and in the queue', coalesce(job.state, 'gone')) end as detail
from (select id, state from job where state = 'queued') as queued_job
full join queue on queue.job_id = queued_job.id
left join job on job.id = coalesce(queued_job.id, queue.job_id)
where queued_job.id is null or queue.job_id is null
order by 1
limit $1

-- break_fenced_points: no point is written for an attempt that has ended, or that there never was
select chunk.job_id as object,
       format('%s up to step %s by attempt %s came at %s', chunk.name, chunk.step_last,
              chunk.attempt, chunk.written_at) as detail
from metric_chunk as chunk
join job on job.id = chunk.job_id
left join attempt using (job_id, attempt)
where attempt.job_id is null or chunk.written_at > attempt.ended_at
limit $1

-- break_successive_points: the points of a metric follow one another, and full chunks come first
select job_id as object,
       format('%s: point %s of step %s follows point %s of step %s', name, first_point, step_first,
              point_before, step_before) as detail
from (select job_id, name, first_point, step_first, summary,
             lag(first_point + points - 1, 1, -1) over of_metric as point_before,
             lag(step_last) over of_metric as step_before,
             lag(summary is not null, 1, true) over of_metric as full_before
      from metric_chunk
      where not exists (select from job where id = job_id and 'metrics' = any (pruned))
      window of_metric as (partition by job_id, name order by step_first)) as chunk
where first_point <> point_before + 1 or step_first <= step_before
   or (summary is not null and not (full_before and first_point % 512 = 0))
limit $1

-- break_rollups: a rollup holds the summaries of its chunks
select rollup.job_id as object,
       format('%s: the summaries of steps %s to %s are not those of the chunks', rollup.name,
              rollup.step_first, rollup.step_last) as detail
from metric_rollup as rollup
join job on job.id = rollup.job_id
cross join lateral (
    select string_agg(summary, '' order by step_first) as summaries
    from metric_chunk as chunk
    where chunk.job_id = rollup.job_id and chunk.name = rollup.name
      and chunk.step_first between rollup.step_first and rollup.step_last
) as chunks
where chunks.summaries is distinct from rollup.data and not 'metrics' = any (job.pruned)
limit $1

-- break_fenced_checkpoints: no checkpoint is written for an attempt that has ended
select checkpoint.id as object,
       format('attempt %s of %s saved it at %s', checkpoint.attempt, checkpoint.job_id,
              checkpoint.created_at) as detail
from checkpoint
join job on job.id = checkpoint.job_id
left join attempt on attempt.job_id = checkpoint.job_id and attempt.attempt = checkpoint.attempt
where attempt.job_id is null or checkpoint.created_at > attempt.ended_at
limit $1

-- break_kept_checkpoints: what an unfinished job needs is kept
select checkpoint_use.checkpoint_id as object,
       format('job %s, which is %s, needs it', job.id, job.state) as detail
from checkpoint_use
join job on job.id = checkpoint_use.job_id
left join checkpoint on checkpoint.id = checkpoint_use.checkpoint_id
where job.finished_at is null
  and (checkpoint.id is null or checkpoint.deleted_at is not null)
limit $1

-- list_newest_checkpoints: the newest one of each job that is kept, where this host saved it: for a
-- look at its files
-- in     $1 job_id to begin after  $2 how many  $3 host
select newest.job_id, newest.id, newest.name, newest.files
from (select distinct on (job_id) job_id, id, name, files, attempt
      from checkpoint
      where deleted_at is null and job_id > $1
      order by job_id, step desc, created_at desc) as newest
join attempt_member as member
  on member.job_id = newest.job_id and member.attempt = newest.attempt and member.rank = 0
where member.host = $3
order by newest.job_id
limit $2
