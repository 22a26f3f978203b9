-- Numbers have no gaps but where old events have gone, so that the first one there is tells where a
-- page ends. Without that bound the planner may read and sort all that follow.

-- list_events: the next events of a job
-- in     $1 job_id  $2 after seq  $3 types text[] or null  $4 limit  $5 bytes_max of the bodies,
--        but for the last one
with page as (
    select job_id, seq, type, body, created_at
    from job_event
    where job_id = $1
      and seq > $2
      and seq < case when $3::text[] is null
                     then (select seq from job_event where job_id = $1 and seq > $2
                           order by seq limit 1) + $4::bigint
                     else 9223372036854775807 end
      and ($3::text[] is null or type = any ($3))
    order by seq
    limit $4
), measured as (
    select page.*, coalesce(sum(octet_length(body::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by seq rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $5
order by seq

-- list_newest_events: the last events of a job, in order
-- in     as list_events; bytes_max but for the first one
with page as (
    select job_id, seq, type, body, created_at
    from job_event
    where job_id = $1
      and seq > case when $3::text[] is null
                     then greatest($2, (select seq from job_event where job_id = $1
                                        order by seq desc limit 1) - $4::bigint)
                     else $2 end
      and ($3::text[] is null or type = any ($3))
    order by seq desc
    limit $4
), measured as (
    select page.*, coalesce(sum(octet_length(body::text)) over after_it, 0) as bytes_after
    from page
    window after_it as (order by seq desc rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_after < $5
order by seq

-- list_events_of_jobs: the next events of many jobs
-- in     $1 job_ids text[]  $2 after seqs bigint[]  $3 limit of each  $4 bytes_max of each, as of
--        list_events
select event.job_id, event.seq, event.type, event.body, event.created_at
from unnest($1::text[], $2::bigint[]) as reader (job_id, after_seq)
cross join lateral (
    select page.*, coalesce(sum(octet_length(body::text)) over before_it, 0) as bytes_before
    from (
        select job_id, seq, type, body, created_at
        from job_event
        where job_event.job_id = reader.job_id
          and job_event.seq > reader.after_seq
          and job_event.seq < (select next.seq from job_event as next
                               where next.job_id = reader.job_id and next.seq > reader.after_seq
                               order by next.seq limit 1) + $3::bigint
        order by seq
        limit $3
    ) as page
    window before_it as (order by seq rows between unbounded preceding and 1 preceding)
) as event
where event.bytes_before < $4
order by event.job_id, event.seq

-- list_changed_jobs: jobs with events in the last seconds, newest first
-- in     $1 window in seconds  $2 limit
-- No index finds rows by clock_timestamp(), which may differ at each row. The jobs are looked up one
-- by one: when many have changed, a join would read all of them.
select job.id, job.project, job.event_seq, job.ended
from (
    select job_id, max(created_at) as changed_at
    from job_event
    where created_at > statement_timestamp() - make_interval(secs => $1)
    group by job_id
    order by changed_at desc, job_id
    limit $2
) as recent
cross join lateral (select id, project, event_seq, finished_at is not null as ended
                    from job
                    where id = recent.job_id
                    offset 0) as job
order by recent.changed_at desc, job.id

-- find_event_heads: how far the events of some jobs go
-- in     $1 job_ids text[]
select id, project, event_seq, finished_at is not null as ended
from job
where id = any ($1::text[])
order by id

-- list_changes_of_jobs: the next events of some types of many jobs, with how far their events go
-- in     $1 job_ids text[]  $2 after seqs bigint[]; -1: of the last 1,000, those created after $3
--        $3 time  $4 types text[]  $5 limit of each  $6 bytes_max of each, as of list_events
select job.id, job.project, job.event_seq, job.finished_at is not null as ended, event.seq,
       event.type, event.body, event.created_at
from unnest($1::text[], $2::bigint[]) as reader (job_id, after_seq)
join job on job.id = reader.job_id
left join lateral (
    select page.*, coalesce(sum(octet_length(body::text)) over before_it, 0) as bytes_before
    from (
        select seq, type, body, created_at
        from job_event
        where job_event.job_id = job.id
          and seq > case when reader.after_seq < 0 then job.event_seq - 1000
                         else reader.after_seq end
          and seq <= job.event_seq
          and type = any ($4::text[])
          and (reader.after_seq >= 0 or created_at > $3::timestamptz)
        order by seq
        limit $5
    ) as page
    window before_it as (order by seq rows between unbounded preceding and 1 preceding)
) as event on event.bytes_before < $6
order by job.id, event.seq

-- database_time: now, by the database's clock
select clock_timestamp() as now

-- append_event: one event from outside of an attempt
-- in     $1 job_id  $2 type  $3 body
-- out    seq; no row when there is no such job
-- locks  the job's row: its number is the next one
with numbered as (
    update job
    set event_seq = event_seq + 1
    where id = $1
    returning id, event_seq
)
insert into job_event (job_id, seq, type, body)
select id, event_seq, $2, $3::json
from numbered
returning seq
