-- The schema of the first build (number 4): its migrations access, datasets, jobs and attempts.
-- Who may ask, and what was asked. Only hashes of secrets are stored.

create table token (
    id           text primary key check (id ~ '^tok_[0-9a-hjkmnp-tv-z]{26}$'),
    name         text not null check (name <> ''),
    lookup       text not null unique check (lookup <> ''),
    sha256       text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    role         text not null check (role in ('admin', 'editor', 'viewer')),
    projects     text[] not null default '{}',
    created_by   text not null default '',
    created_at   timestamptz not null default clock_timestamp(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz
);

create table login_ticket (
    sha256     text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
    token_id   text not null references token on delete cascade,
    expires_at timestamptz not null
);

create table session (
    sha256     text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
    token_id   text not null references token on delete cascade,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null
);
create index session_token on session (token_id);

-- An answer is kept with its key for 24 hours. No answer yet: the request is running.
create table idempotency (
    token_id   text not null,
    key        text not null check (length(key) between 1 and 128),
    body_hash  text not null,
    started_at timestamptz not null default clock_timestamp(),
    status     smallint,
    body       text,
    location   text,
    primary key (token_id, key),
    check ((status is null) = (body is null))
);
create index idempotency_started on idempotency (started_at);

create table audit (
    id         bigint generated always as identity primary key,
    at         timestamptz not null default clock_timestamp(),
    token_id   text not null,
    action     text not null,
    object     text not null,
    request_id text not null,
    detail     json not null
);

-- Files and folders that no row names any more, to be removed by the machine that holds them.
create table garbage (
    id       bigint generated always as identity primary key,
    path     text not null check (path ~ '^[a-z]+/[A-Za-z0-9_./-]+$' and path !~ '\.\.'),
    added_at timestamptz not null default clock_timestamp()
);
create table upload (
    id         text primary key check (id ~ '^upl_[0-9a-hjkmnp-tv-z]{26}$'),
    filename   text not null,
    size       bigint not null check (size >= 0),
    sha256     text not null check (sha256 ~ '^([0-9a-f]{64})?$'),
    received   bigint not null default 0 check (received between 0 and size),
    complete   boolean not null default false,
    created_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null,
    check (not complete or received = size)
);

-- `checking` datasets are claimed by one agent at a time: check_token is the fence of the check.
create table dataset (
    id               text primary key check (id ~ '^ds_[0-9a-hjkmnp-tv-z]{26}$'),
    project          text not null check (project <> ''),
    name             text not null check (name <> ''),
    format           text not null,
    source           jsonb not null,
    options          jsonb not null,
    state            text not null default 'checking'
                     check (state in ('checking', 'ready', 'failed')),
    report           jsonb,
    problems         jsonb,
    content_hash     text not null default '',
    bytes            bigint not null default 0,
    created_by       text not null,
    version          bigint not null default 1,
    created_at       timestamptz not null default clock_timestamp(),
    checked_at       timestamptz,
    check_host       text,
    check_token      text,
    check_expires_at timestamptz,
    unique (project, name),
    check ((state = 'checking') = (checked_at is null)),
    check (state <> 'ready' or report is not null),
    check (state <> 'failed' or problems is not null)
);
create index dataset_checking on dataset (id) where state = 'checking';
-- The state machine. api/spec/job_state.cpp has the same rows; a test compares them.

create table job_state (
    name  text primary key,
    final boolean not null
);
insert into job_state (name, final) values
    ('queued', false), ('starting', false), ('compiling', false), ('running', false),
    ('finishing', false), ('succeeded', true), ('preempting', false), ('pausing', false),
    ('paused', false), ('cancelling', false), ('cancelled', true), ('failed', true),
    ('stopped', true), ('timed_out', true), ('expired', true);

create table job_transition (
    from_state text not null references job_state,
    to_state   text not null references job_state,
    primary key (from_state, to_state)
);
insert into job_transition (from_state, to_state)
select from_state, unnest(to_states)
from (values
    ('queued', array['starting', 'cancelled', 'paused', 'stopped', 'failed', 'expired']),
    ('starting', array['compiling', 'queued', 'preempting', 'pausing', 'cancelling', 'failed',
                       'stopped', 'timed_out']),
    ('compiling', array['running', 'finishing', 'queued', 'preempting', 'pausing', 'cancelling',
                        'failed', 'stopped', 'timed_out']),
    ('running', array['finishing', 'queued', 'preempting', 'pausing', 'cancelling', 'failed',
                      'stopped', 'timed_out']),
    ('finishing', array['succeeded', 'queued', 'cancelling', 'failed', 'stopped', 'timed_out']),
    ('preempting', array['queued', 'cancelling', 'succeeded', 'failed', 'timed_out']),
    ('pausing', array['paused', 'cancelling', 'succeeded', 'failed', 'timed_out']),
    ('paused', array['queued', 'cancelled', 'stopped']),
    ('cancelling', array['cancelled', 'succeeded', 'failed', 'timed_out'])
) as rows (from_state, to_states);

-- Wide and slow: what a job is and how far it has come. Rows are updated in place (fillfactor).
create table job (
    id             text primary key check (id ~ '^job_[0-9a-hjkmnp-tv-z]{26}$'),
    name           text not null check (name <> ''),
    project        text not null check (project <> ''),
    labels         jsonb not null default '{}' check (jsonb_typeof(labels) = 'object'),
    state          text not null default 'queued' references job_state,
    reason_code    text,
    reason_message text,
    spec           jsonb not null,
    effective      jsonb,
    progress       jsonb,
    best           jsonb,
    result         jsonb,
    dataset_id     text references dataset on delete set null,
    queue_class    text not null
                   check (queue_class in ('urgent', 'high', 'normal', 'low', 'idle')),
    cores          smallint not null check (cores between 1 and 2048),
    core_id        smallint check (core_id >= 1),
    not_before     timestamptz,
    valid_until    timestamptz,
    event_seq      bigint not null default 0,
    attempts       integer not null default 0,
    restarts       integer not null default 0,
    restarts_max   integer not null check (restarts_max >= 0),
    version        bigint not null default 1,
    created_by     text not null,
    created_at     timestamptz not null default clock_timestamp(),
    started_at     timestamptz,
    finished_at    timestamptz,
    check (core_id is null or cores = 1),
    check ((reason_code is null) = (reason_message is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create index job_project on job (project, id);
create index job_dataset on job (dataset_id);
create index job_labels on job using gin (labels jsonb_path_ops);

-- Narrow and fast: a row exists while, and only while, its job is queued (trigger job_follow).
create table queue (
    job_id      text primary key references job on delete cascade,
    class_rank  smallint not null check (class_rank between 0 and 4),
    age_key     timestamptz not null,
    cores       smallint not null,
    core_id     smallint,
    not_before  timestamptz,
    valid_until timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 50,
        autovacuum_vacuum_cost_limit = 2000);
create index queue_order on queue (class_rank, age_key, job_id);

-- Append-only history of a job: seq grows by one with each event, in the order of commit.
create table job_event (
    job_id     text not null references job on delete cascade,
    seq        bigint not null check (seq >= 1),
    type       text not null check (type in ('state', 'progress', 'metric', 'log', 'checkpoint',
                                             'compile', 'warning', 'end')),
    body       json not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (job_id, seq)
);
create index job_event_time on job_event using brin (created_at) with (pages_per_range = 8);

create function queue_class_rank(queue_class text) returns smallint
language sql immutable
return array_position(array['urgent', 'high', 'normal', 'low', 'idle'], queue_class) - 1;

-- Refuses a move that the table does not have, and reserves the sequence numbers of its events.
create function job_guard() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        if new.state <> 'queued' then
            raise exception 'a job begins queued, not %', new.state
                using errcode = 'SW001', detail = '', hint = new.state;
        end if;
        new.event_seq := 1;
        return new;
    end if;
    if new.event_seq < old.event_seq then
        raise exception 'event numbers of % cannot go back', old.id;
    end if;
    if (new.state, new.name, new.labels, new.queue_class)
        is distinct from (old.state, old.name, old.labels, old.queue_class) then
        new.version := old.version + 1;
    end if;
    if new.state = old.state then
        return new;
    end if;
    if not exists (select from job_transition
                   where from_state = old.state and to_state = new.state) then
        raise exception 'a job that is % cannot become %', old.state, new.state
            using errcode = 'SW001', detail = old.state, hint = new.state;
    end if;
    new.event_seq := new.event_seq + 1;
    if (select final from job_state where name = new.state) then
        new.event_seq := new.event_seq + 1;
        new.finished_at := clock_timestamp();
    elsif new.state = 'starting' and new.started_at is null then
        new.started_at := clock_timestamp();
    end if;
    return new;
end
$$;
create trigger job_guard before insert or update on job
    for each row execute function job_guard();

-- What a change of state brings with it: its event, the event `end`, the queue row.
create function job_follow() returns trigger language plpgsql as $$
declare
    ends   boolean := new.finished_at is not null;
    reason json := null;
begin
    if tg_op = 'UPDATE' and new.state = old.state then
        if new.state = 'queued' and new.queue_class <> old.queue_class then
            update queue set class_rank = queue_class_rank(new.queue_class)
            where job_id = new.id;
        end if;
        return null;
    end if;
    if new.reason_code is not null then
        reason := json_build_object('code', new.reason_code, 'message', new.reason_message);
    end if;
    insert into job_event (job_id, seq, type, body)
    values (new.id, new.event_seq - ends::integer, 'state',
            json_build_object('state', new.state,
                              'from', case when tg_op = 'UPDATE' then old.state end,
                              'reason', reason, 'attempt', new.attempts,
                              'restarts', new.restarts));
    if ends then
        insert into job_event (job_id, seq, type, body)
        values (new.id, new.event_seq, 'end',
                json_build_object('state', new.state, 'reason', reason));
    end if;
    if new.state = 'queued' then
        insert into queue (job_id, class_rank, age_key, cores, core_id, not_before, valid_until)
        values (new.id, queue_class_rank(new.queue_class), new.created_at, new.cores, new.core_id,
                new.not_before, new.valid_until);
    elsif tg_op = 'UPDATE' and old.state = 'queued' then
        delete from queue where job_id = new.id;
    end if;
    return null;
end
$$;
create trigger job_follow after insert or update on job
    for each row execute function job_follow();

-- Events change only with their job's removal, which reaches them through the foreign key.
create function job_event_guard() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and pg_trigger_depth() > 1 then
        return old;
    end if;
    raise exception 'events are append-only';
end
$$;
create trigger job_event_guard before update or delete on job_event
    for each row execute function job_event_guard();
create trigger job_event_keep before truncate on job_event
    for each statement execute function job_event_guard();
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

create table schema_migration (
    number     integer primary key,
    name       text not null,
    checksum   text not null,
    applied_at timestamptz not null default clock_timestamp()
);
insert into schema_migration (number, name, checksum) values
    (1, 'access', ''), (2, 'datasets', ''), (3, 'jobs', ''), (4, 'attempts', '');
