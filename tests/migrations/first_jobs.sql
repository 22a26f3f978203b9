-- What jobs.sql needs of the first build.
create function pg_temp.move(of_job text, to_state text) returns void language sql as $$
    update job set state = to_state where id = of_job
$$;

create function pg_temp.begin_attempt(of_job text, on_host text, on_core integer) returns void
language sql as $$
    insert into attempt (job_id, attempt, token, host, cores, pid, start_ticks, started_at)
    values (of_job, 1, md5(of_job), on_host, array[on_core]::smallint[], 100 + on_core, 7, now())
$$;

create function pg_temp.add_points(of_job text, count integer) returns void language sql as $$
    insert into metric_point (job_id, name, step, epoch, value, attempt)
    select of_job, 'loss', step, 1 + step / 100, 1.0 / step, 1
    from generate_series(1, count) as step
$$;
