-- A metric's points were a row each: 185 bytes with its index. They are chunks now, of which
-- scheduler/store/metrics/chunk.h says what the bytes are. A full chunk (512 points) has a summary;
-- the summaries of 512 full chunks are one row of metric_rollup, so that a curve of 20,000,000
-- points is read from 77 rows. What follows the last full chunk are the few rows that batches left.
create table metric_chunk (
    job_id      text not null,
    name        text not null check (name <> ''),
    first_point bigint not null check (first_point >= 0),
    points      integer not null check (points > 0),
    step_first  bigint not null,
    step_last   bigint not null check (step_last >= step_first),
    attempt     integer not null,
    written_at  timestamptz default clock_timestamp() not null,
    summary     bytea check (length(summary) = 68),
    data        bytea not null,
    primary key (job_id, name, step_first),
    constraint metric_chunk_full_check check (summary is null or points = 512)
);

create table metric_rollup (
    job_id      text not null,
    name        text not null,
    first_point bigint not null,
    step_first  bigint not null,
    step_last   bigint not null,
    data        bytea not null check (length(data) = 512 * 68),
    primary key (job_id, name, step_first)
);

-- Packed numbers are not compressed further; it would be tried at each write.
alter table metric_chunk alter column data set storage external;

insert into metric_chunk (job_id, name, first_point, points, step_first, step_last, attempt,
                          written_at, summary, data)
select job_id, name, 512 * chunk, count(*), min(step), max(step),
       (array_agg(attempt order by step desc))[1], max(at),
       case when count(*) = 512
            then int8send(max(step))
                 || int8send((array_agg(epoch order by step desc))[1])
                 || float8send((array_agg(value order by step desc))[1])
                 || int4send((array_agg(attempt order by step desc))[1])
                 || int8send((array_agg((extract(epoch from at) * 1000000)::bigint
                                        order by step desc))[1])
                 || float8send(coalesce(min(value) filter (where finite), 0))
                 || float8send(coalesce(max(value) filter (where finite), 0))
                 -- A sum of values may be too large; a part of a tiny one is refused.
                 || float8send(coalesce(sum(case when abs(value) > 1e-200 then value / 512 else 0 end)
                                            filter (where finite)
                                        * (512.0 / nullif(count(*) filter (where finite), 0)), 0))
                 || int4send(512)
                 || int4send((count(*) filter (where not finite))::integer) end,
       '\x00' || string_agg(int8send(step) || int8send(epoch) || float8send(value)
                            || int4send(attempt)
                            || int8send((extract(epoch from at) * 1000000)::bigint),
                            '' order by step)
from (select *, (row_number() over (partition by job_id, name order by step) - 1) / 512 as chunk,
             abs(value) < 'infinity' as finite
      from metric_point) as point
group by job_id, name, chunk;

drop table metric_point;

create trigger metric_chunk_of_job after insert on metric_chunk
    referencing new table as added
    for each statement execute function job_is_there();
