-- What jobs.sql needs of the newest build before the first release.
alter table job alter column kind set default 'train';

create function pg_temp.move(of_job text, to_state text) returns void language sql as $$
    update job
    set state  = to_state,
        intent = case to_state when 'pausing' then 'pause'
                               when 'preempting' then 'preempt'
                               when 'cancelling' then 'cancel' end
    where id = of_job
$$;

create function pg_temp.begin_attempt(of_job text, on_host text, on_core integer) returns void
language sql as $$
    insert into attempt (job_id, attempt, fence, started_at) values (of_job, 1, md5(of_job), now());
    insert into attempt_member (job_id, attempt, rank, host, cores, pid, start_ticks)
    values (of_job, 1, 0, on_host, array[on_core]::smallint[], 100 + on_core, 7)
$$;

create function pg_temp.add_points(of_job text, count integer) returns void language sql as $$
    insert into metric_chunk (job_id, name, first_point, points, step_first, step_last, attempt,
                              data)
    select of_job, 'loss', 512 * chunk, count(*), min(step), max(step), 1,
           '\x00' || string_agg(int8send(step) || int8send(1 + step / 100) || float8send(1.0 / step)
                                || int4send(1) || int8send(0), '' order by step)
    from (select step::bigint, (step - 1) / 512 as chunk
          from generate_series(1, count) as step) as point
    group by chunk
$$;
