-- Checkpoints of trials that were passed by are deleted while a sweep goes on, and once more when it
-- has ended. What sweeps that ended before have kept stays.
alter table sweep add column tidied boolean default false not null;
update sweep set tidied = true where finished_at is not null;
create index sweep_untidied on sweep (id) where finished_at is not null and not tidied;


-- Why the service has drained a core, or would have.
create table core_drain (
    host       text not null references host (name) on delete cascade,
    core       smallint not null check (core >= 1),
    drained_at timestamptz default clock_timestamp() not null,
    reason     text not null,
    primary key (host, core)
);
-- Jobs whose executor vanished or could not start on a core, since something has run well there.
create table core_failure (
    host   text not null references host (name) on delete cascade,
    core   smallint not null check (core >= 1),
    job_id text not null references job (id) on delete cascade,
    at     timestamptz default clock_timestamp() not null,
    primary key (host, core, job_id)
);
create index core_failure_job on core_failure (job_id);
