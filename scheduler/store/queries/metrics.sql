-- Metrics in chunks (scheduler/store/metrics). The chunks of a metric do not overlap, so that the
-- one which may hold a step is the last that begins at or before it.

-- list_metric_names: what a job has measured, the first names
-- in     $1 job_id  $2 limit
-- One index probe per name: a job has few names and many chunks.
with recursive names as (
    (select name from metric_chunk where job_id = $1 order by name limit 1)
    union all
    select (select name
            from metric_chunk
            where job_id = $1 and name > names.name
            order by name
            limit 1)
    from names
    where names.name is not null
)
select name
from names
where name is not null
limit $2

-- list_series_ends: where the metrics of a job end, the first names
-- in     $1 job_id  $2 limit
-- out    points: of the metric; step_last; tail_rows, tail_points: after the last full chunk
with recursive names as (
    (select name from metric_chunk where job_id = $1 order by name limit 1)
    union all
    select (select name
            from metric_chunk
            where job_id = $1 and name > names.name
            order by name
            limit 1)
    from names
    where names.name is not null
), limited as (
    select name from names where name is not null limit $2
)
select limited.name, last.points, last.step_last, tail.rows as tail_rows,
       tail.points as tail_points
from limited
cross join lateral (
    select first_point + metric_chunk.points as points, step_last
    from metric_chunk
    where job_id = $1 and metric_chunk.name = limited.name
    order by step_first desc
    limit 1
) as last
cross join lateral (
    select count(*) as rows, coalesce(sum(newest.points), 0) as points
    from (select metric_chunk.points, summary
          from metric_chunk
          where job_id = $1 and metric_chunk.name = limited.name
          order by step_first desc
          limit 100) as newest
    where summary is null
) as tail

-- read_series_ends: what is written again when points are added: the last full chunk before the
-- first new point and what follows it
-- in     $1 job_id  $2 names text[]  $3 steps bigint[]: the first new one of each
-- out    in the order of $2; data: null if the chunk is full and the new points follow it
select asked.name, chunk.step_first, chunk.first_point, chunk.points,
       chunk.summary is not null as full,
       case when chunk.summary is null or chunk.step_last >= asked.step then chunk.data end as data
from unnest($2::text[], $3::bigint[]) with ordinality as asked (name, step, place)
cross join lateral (
    select *
    from metric_chunk
    where job_id = $1 and metric_chunk.name = asked.name and step_first <= asked.step
      and step_first >= coalesce((select step_first
                                  from metric_chunk
                                  where job_id = $1 and metric_chunk.name = asked.name
                                    and step_first <= asked.step and summary is not null
                                  order by step_first desc
                                  limit 1), -9223372036854775808)
) as chunk
order by asked.place, chunk.step_first

-- cut_series: removes the chunks of metrics that begin at a step or after it
-- in     $1 job_id  $2 names text[]  $3 steps bigint[]
delete from metric_chunk
using unnest($2::text[], $3::bigint[]) as cut (name, step)
where job_id = $1 and metric_chunk.name = cut.name and step_first >= cut.step

-- cut_rollups: removes the summaries of what cut_series removes
-- in     as cut_series
delete from metric_rollup
using unnest($2::text[], $3::bigint[]) as cut (name, step)
where job_id = $1 and metric_rollup.name = cut.name and step_last >= cut.step

-- insert_chunks: points of one attempt of each job, and of others before them
-- in     arrays: $1 job_ids text[]  $2 attempts integer[]  $3 names  $4 first points  $5 points
--        $6 first steps  $7 last steps  $8 summaries, hexadecimal, or ''  $9 data, hexadecimal
insert into metric_chunk (job_id, name, first_point, points, step_first, step_last, attempt,
                          summary, data)
select job_id, name, first_point, points, step_first, step_last, attempt,
       decode(nullif(summary, ''), 'hex'), decode(data, 'hex')
from unnest($1::text[], $2::integer[], $3::text[], $4::bigint[], $5::integer[], $6::bigint[],
            $7::bigint[], $8::text[], $9::text[])
     as chunk (job_id, attempt, name, first_point, points, step_first, step_last, summary, data)

-- insert_rollups: keeps the summaries of the 512 full chunks up to one together
-- in     $1 job_id  $2 names text[]  $3 steps bigint[]: the first of the last full chunk
insert into metric_rollup (job_id, name, first_point, step_first, step_last, data)
select $1, filled.name, min(chunk.first_point), min(chunk.step_first), max(chunk.step_last),
       string_agg(chunk.summary, '' order by chunk.step_first)
from unnest($2::text[], $3::bigint[]) as filled (name, step)
cross join lateral (
    select first_point, step_first, step_last, summary
    from metric_chunk
    where job_id = $1 and metric_chunk.name = filled.name and step_first <= filled.step
    order by step_first desc
    limit 512
) as chunk
group by filled.name, filled.step

-- measure_curve: which points of a metric a range of steps may hold at most
-- in     $1 job_id  $2 name  $3 first step  $4 last step
-- out    first_point; points_end: after the last; nulls: none
select (select first_point
        from metric_chunk
        where job_id = $1 and name = $2 and step_last >= $3 and step_first <= $4
          and step_first >= coalesce((select step_first
                                      from metric_chunk
                                      where job_id = $1 and name = $2 and step_first <= $3
                                      order by step_first desc
                                      limit 1), $3)
        order by step_first
        limit 1) as first_point,
       (select first_point + points
        from metric_chunk
        where job_id = $1 and name = $2 and step_first <= $4
        order by step_first desc
        limit 1) as points_end

-- list_chunks: the next chunks of a metric that hold points of a range of steps
-- in     $1 job_id  $2 name  $3 first step  $4 last step  $5 limit  $6 with their points, where a
--        summary would do
-- out    data: null if the summary does
select first_point, points, step_last, summary,
       case when $6::boolean or summary is null or step_first < $3 or step_last > $4
            then data end as data
from metric_chunk
where job_id = $1 and name = $2 and step_last >= $3 and step_first <= $4
  and step_first >= coalesce((select step_first
                              from metric_chunk
                              where job_id = $1 and name = $2 and step_first <= $3
                              order by step_first desc
                              limit 1), $3)
order by step_first
limit $5

-- list_rollups: the summaries that are kept together, of those that lie in a range of steps
-- in     $1 job_id  $2 name  $3 first step  $4 last step
select first_point, step_first, step_last, data
from metric_rollup
where job_id = $1 and name = $2 and step_first >= $3 and step_last <= $4
order by step_first

-- keep_metric_values: the last, the lowest and the highest value of metrics with new points
-- in     arrays: $1 job_ids text[]  $2 names  $3 last values  $4 lowest  $5 highest; NaN: none is
--        finite
insert into live_job_metric as kept (job_id, name, last, low, high)
select job_id, name, nullif(last, 'NaN'), nullif(low, 'NaN'), nullif(high, 'NaN')
from unnest($1::text[], $2::text[], $3::double precision[], $4::double precision[],
            $5::double precision[])
     as added (job_id, name, last, low, high)
on conflict (job_id, name) do update
set last = excluded.last,
    low  = least(kept.low, excluded.low),
    high = greatest(kept.high, excluded.high)
