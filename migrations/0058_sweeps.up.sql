-- Sweeps: hyperparameter searches. What a sweep knows is its log: events of the search, each with
-- the decisions that came of it, in one order. Its trials are what the log adds up to, kept so that
-- they can be listed; the jobs of trials are rows of job with the sweep as their parent.
create table sweep (
    id             text primary key check (id ~ '^swp_[0-9a-hjkmnp-tv-z]{26}$'),
    name           text not null check (name <> ''),
    project        text not null check (project <> ''),
    labels         jsonb default '{}' not null check (jsonb_typeof(labels) = 'object'),
    state          text default 'running' not null
                   check (state in ('running', 'paused', 'stopping', 'finished', 'stopped', 'failed')),
    reason_code    text,
    reason_message text,
    spec           jsonb not null check (jsonb_typeof(spec) = 'object'),
    known          json default '[]' not null,    -- results of earlier sweeps: [{point, value}]
    max_trials     integer not null check (max_trials >= 1),
    max_concurrent integer not null check (max_concurrent >= 1),
    external       boolean not null,    -- its trials are run elsewhere
    seq            bigint default 0 not null,    -- of the newest event
    trials         integer default 0 not null,
    running        integer default 0 not null,
    paused         integer default 0 not null,
    completed      integer default 0 not null,
    stopped        integer default 0 not null,
    failed         integer default 0 not null,
    best_trial     integer,
    best_value     double precision,
    version        bigint default 1 not null,
    created_by     text not null,
    created_at     timestamptz default clock_timestamp() not null,
    finished_at    timestamptz,
    check ((reason_code is null) = (reason_message is null)),
    check ((best_trial is null) = (best_value is null)),
    check ((finished_at is null) = (state in ('running', 'paused', 'stopping'))),
    check (trials = running + paused + completed + stopped + failed)
);
create index sweep_active on sweep (id) where finished_at is null;
create index sweep_project on sweep (project, id);

create table sweep_event (
    sweep_id  text not null references sweep (id) on delete cascade,
    seq       bigint not null check (seq >= 1),
    at        timestamptz default clock_timestamp() not null,
    event     json not null,
    decisions json not null check (json_typeof(decisions) = 'array'),
    primary key (sweep_id, seq)
);

create table sweep_trial (
    sweep_id    text not null references sweep (id) on delete cascade,
    number      integer not null check (number >= 0),
    state       text not null
                check (state in ('running', 'paused', 'completed', 'stopped', 'failed')),
    point       json not null,
    train_until bigint not null,    -- 0: as long as its job says
    reports     integer not null,
    last_time   bigint,
    last_value  double precision,
    value       double precision,    -- that it is judged by; null: none that is finite
    value_time  bigint,
    lineage     json not null,
    job_id      text,                -- the newest one
    job_open    boolean not null,    -- that its end has not been taken into account
    jobs        integer not null,
    reason      text,                -- the newest decision about it, or why it failed
    started_at  timestamptz default clock_timestamp() not null,
    ended_at    timestamptz,
    primary key (sweep_id, number)
);
create index sweep_trial_open on sweep_trial (sweep_id) where job_open;
create index sweep_trial_value on sweep_trial (sweep_id, value) where value is not null;
