-- What the scheduler decided on a job, and why: kept for a week (prune_decisions). No foreign key: a
-- job that is deleted keeps its decisions until then.
create table decision (
    id          bigint generated always as identity primary key,
    at          timestamptz default clock_timestamp() not null,
    job_id      text not null,
    project     text not null,
    kind        text not null check (kind in ('start', 'wait', 'preempt')),
    code        text not null check (code <> ''),
    message     text not null,
    host        text,
    cores       smallint[],
    related_job text,    -- that it waits for, gives way to, or goes before
    check ((kind = 'start') = (host is not null and cores is not null))
);
create index decision_job on decision (job_id, id);
create index decision_project on decision (project, id);
