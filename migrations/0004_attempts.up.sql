-- Who runs a job, by what right, and what came of it.

create table host (
    name          text primary key check (name <> ''),
    cores         smallint not null check (cores between 1 and 64),
    physical_cpus integer not null default 0,
    memory_bytes  bigint not null default 0,
    drained       smallint[] not null default '{}',
    heartbeat_at  timestamptz not null default clock_timestamp()
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- The fence is (job_id, attempt, token) while ended_at is null: every write of an attempt names it.
create table attempt (
    job_id         text not null references job on delete cascade,
    attempt        integer not null check (attempt >= 1),
    token          text not null check (token ~ '^[0-9a-f]{32}$'),
    host           text not null references host,
    cores          smallint[] not null check (cardinality(cores) >= 1),
    pid            bigint,
    start_ticks    bigint,
    frames_relayed bigint not null default 0 check (frames_relayed >= 0),
    resumed_from   text not null default '',
    exit_kind      text not null default '',
    exit_status    integer,
    message        text not null default '',
    created_at     timestamptz not null default clock_timestamp(),
    started_at     timestamptz,
    ended_at       timestamptz,
    primary key (job_id, attempt),
    check ((exit_kind = '') = (ended_at is null)),
    check ((pid is null) = (start_ticks is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create unique index attempt_live_once on attempt (job_id) where ended_at is null;
create index attempt_live_of_host on attempt (host) where ended_at is null;

-- When a transaction ends, a job has a live attempt if, and only if, its state says that it holds
-- cores. So no job returns to the queue or ends while an executor may still write for it.
create function attempt_fits_state() returns trigger language plpgsql as $$
declare
    about    text := case tg_table_name when 'job' then to_jsonb(new) ->> 'id'
                                        else to_jsonb(new) ->> 'job_id' end;
    present  text;
    is_final boolean;
begin
    select state, final into present, is_final
    from job
    join job_state on job_state.name = job.state
    where id = about;
    if not found then
        return null;
    end if;
    if (not is_final and present not in ('queued', 'paused'))
       <> exists (select from attempt where job_id = about and ended_at is null) then
        raise exception 'job % is % and its live attempt does not fit that', about, present
            using errcode = 'SW001', hint = present,
                  detail = case when tg_table_name = 'job' and tg_op = 'UPDATE'
                                then to_jsonb(old) ->> 'state' else present end;
    end if;
    return null;
end
$$;
create constraint trigger job_fits_attempt after update of state on job
    deferrable initially deferred
    for each row execute function attempt_fits_state();
create constraint trigger attempt_fits_job after insert or update of ended_at on attempt
    deferrable initially deferred
    for each row execute function attempt_fits_state();

-- A core belongs to at most one attempt: the primary key says so, whoever schedules.
create table lease (
    host       text not null references host,
    core       smallint not null check (core >= 1),
    job_id     text not null,
    attempt    integer not null,
    leased_at  timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null,
    primary key (host, core),
    foreign key (job_id, attempt) references attempt on delete cascade
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 50);
create index lease_attempt on lease (job_id, attempt);

-- A lease exists only for a live attempt on its host.
create function lease_guard() returns trigger language plpgsql as $$
begin
    if not exists (select from attempt
                   where job_id = new.job_id and attempt.attempt = new.attempt
                     and host = new.host and new.core = any (cores) and ended_at is null) then
        raise exception 'no live attempt % of % on core % of %',
            new.attempt, new.job_id, new.core, new.host;
    end if;
    return null;
end
$$;
create trigger lease_guard after insert on lease
    for each row execute function lease_guard();

create table checkpoint (
    id           text primary key check (id ~ '^ckp_[0-9a-hjkmnp-tv-z]{26}$'),
    job_id       text not null,
    attempt      integer not null,
    name         text not null check (name ~ '^[A-Za-z0-9_.-]{1,120}$' and name !~ '^\.'),
    step         bigint not null,
    epoch        bigint not null,
    kinds        text[] not null,
    files        jsonb not null,
    bytes        bigint not null check (bytes >= 0),
    metric_name  text not null default '',
    metric_value double precision,
    pinned       boolean not null default false,
    created_at   timestamptz not null default clock_timestamp(),
    deleted_at   timestamptz,
    unique (job_id, name),
    foreign key (job_id, attempt) references attempt on delete cascade
);
create index checkpoint_newest on checkpoint (job_id, step) where deleted_at is null;

-- A resumed attempt repeats steps: its points take the place of the old ones.
create table metric_point (
    job_id  text not null references job on delete cascade,
    name    text not null check (name <> ''),
    step    bigint not null,
    epoch   bigint not null,
    value   double precision not null,
    attempt integer not null,
    at      timestamptz not null default clock_timestamp(),
    primary key (job_id, name, step)
);
