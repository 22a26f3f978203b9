-- Lists of jobs by time and by a metric.

-- What a list of jobs is narrowed to; null = no such condition.
drop function job_matches(job, text[], text, jsonb, text, text);
create function job_matches(listed job, projects text[], name_pattern text, wanted_labels jsonb,
                            used_dataset text, wanted_kind text, created tstzrange,
                            finished tstzrange) returns boolean
language sql stable as $$
    select (projects is null or listed.project = any (projects))
       and (name_pattern is null or listed.name ilike name_pattern)
       and (wanted_labels is null or listed.labels @> wanted_labels)
       and (used_dataset is null or listed.dataset_id = used_dataset)
       and (wanted_kind is null or listed.kind = wanted_kind)
       and (created is null or listed.created_at <@ created)
       and (finished is null or listed.finished_at <@ finished)
$$;

-- The last, the lowest and the highest value of each metric of a job. Those of jobs that have not
-- ended change with every batch of points: few rows without an index on a value, so that a change
-- stays within its page. They move when the job ends. NaN and infinities are left out; last is null
-- if the last value was one. A step that is trained again after a resume gives the same value, so
-- going back changes neither bound.
create table live_job_metric (
    job_id text not null references job (id) on delete cascade,
    name   text not null check (name <> ''),
    last   double precision,
    low    double precision,
    high   double precision,
    primary key (job_id, name),
    check ((low is null) = (high is null)),
    check (low <= high)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
create index live_job_metric_name on live_job_metric (name);

create table job_metric (
    job_id text not null references job (id) on delete cascade,
    name   text not null check (name <> ''),
    last   double precision,
    low    double precision,
    high   double precision,
    primary key (job_id, name),
    check ((low is null) = (high is null)),
    check (low <= high)
);
create index job_metric_last on job_metric (name, last, job_id) where last is not null;
create index job_metric_low on job_metric (name, low, job_id) where low is not null;
create index job_metric_high on job_metric (name, high, job_id) where high is not null;

create function job_metrics_settle() returns trigger language plpgsql as $$
begin
    with moved as (
        delete from live_job_metric where job_id = new.id returning *
    )
    insert into job_metric select * from moved;
    return null;
end
$$;
-- A job without progress has measured nothing.
create trigger job_metrics_settle after update of state on job for each row
    when (new.finished_at is not null and old.finished_at is null and new.progress is not null)
    execute function job_metrics_settle();

-- Of the jobs that are there, what their best checkpoint says.
insert into job_metric (job_id, name, last, low, high)
select id, best ->> 'metric', (best ->> 'value')::double precision,
       (best ->> 'value')::double precision, (best ->> 'value')::double precision
from job
where finished_at is not null and best ->> 'metric' <> '' and jsonb_typeof(best -> 'value') = 'number';
insert into live_job_metric (job_id, name, last, low, high)
select id, best ->> 'metric', (best ->> 'value')::double precision,
       (best ->> 'value')::double precision, (best ->> 'value')::double precision
from job
where finished_at is null and best ->> 'metric' <> '' and jsonb_typeof(best -> 'value') = 'number';
