-- The schema of release 0.1: the first migration, applied to an empty database in one transaction.
--
-- It repeats the invariants of the code as constraints and triggers (docs/decisions/0005): a second
-- scheduler, an agent of an older build and a person with psql meet the same refusal.
-- SQLSTATE SW001 is an illegal move of a job, SW002 a leader whose term is over, SW003 too many
-- groups, SW004 a class that the project does not allow.
--
-- Contents
--   projects, members and tokens      who may do what
--   uploads, datasets and splits      what jobs train on
--   jobs                              what a job is, its events, and lists of jobs
--   hosts, attempts and cores         where a job runs, and by what right
--   checkpoints and metrics           what a job leaves
--   the queue                         what waits, in which order, and counts of it
--   moves of jobs                     what follows a change of state
--   cross-validations and sweeps      what creates jobs
--   webhooks                          what other services are told
--   the service itself                leaders, decisions, retention, garbage


-- Projects, members and tokens ------------------------------------------------------------------

-- The number is the user id of the project's executors, relative to --executor-user-base. It is
-- never reused, so that no project gets files of an earlier one.
create table project (
    name       text primary key check (name <> ''),
    number     integer not null unique check (number between 1 and 60000),
    created_by text not null default '',    -- tok_…; '': a build before it was recorded
    created_at timestamptz not null default clock_timestamp(),
    weight     double precision not null default 1 check (weight between 0.01 and 1000),
    cores_max  integer check (cores_max >= 0),    -- null: no quota
    class_max  text                               -- the most urgent class of its jobs; null: any
               check (class_max in ('urgent', 'high', 'normal', 'low', 'idle'))
);
create index project_maker on project (created_by) where created_by <> '';

create table member (
    name       text primary key check (name ~ '^[a-z0-9][a-z0-9._@-]{0,63}$'),
    created_by text not null,
    created_at timestamptz not null default clock_timestamp()
);

create table membership (
    project    text not null references project,
    member     text not null references member,
    role       text not null check (role in ('viewer', 'editor', 'admin')),
    changed_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    changed_at timestamptz not null default clock_timestamp(),
    primary key (project, member)
);
create index membership_of_member on membership (member, project);

-- Only hashes of secrets are stored. `root` is the token without a maker from which this token
-- descends: limits count all descendants of a root together. A token of a member has the rights of
-- its member, up to its own; a token without a member has the rights in its own row.
create table token (
    id           text primary key check (id ~ '^tok_[0-9a-hjkmnp-tv-z]{26}$'),
    name         text not null check (name <> ''),
    lookup       text not null unique check (lookup <> ''),
    sha256       text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    role         text not null check (role in ('admin', 'editor', 'viewer')),
    projects     text[] not null default '{}',    -- empty: all
    created_by   text not null default '',
    created_at   timestamptz not null default clock_timestamp(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz,
    root         text not null,
    member       text references member
);
create index token_made on token (root) where revoked_at is null;
create index token_maker on token (created_by);
create index token_of_member on token (member) where member is not null;

create function role_rank(role text) returns smallint
    language sql immutable strict parallel safe
    return array_position(array['viewer', 'editor', 'admin'], role)::smallint;

-- The rights of all valid tokens, by project; a null project means every project. This view is the
-- one place where the rights of a token and those of its member meet.
create view token_grant as
select token.id as token_id, granted.project, granted.role
from token
cross join lateral (
    select null::text as project, token.role
    where token.member is null and cardinality(token.projects) = 0
    union all
    select listed.project, token.role
    from unnest(token.projects) as listed (project)
    where token.member is null
    union all
    select membership.project,
           case when role_rank(membership.role) < role_rank(token.role)
                then membership.role else token.role end
    from membership
    where membership.member = token.member
      and (cardinality(token.projects) = 0 or membership.project = any (token.projects))
) as granted
where token.revoked_at is null
  and (token.expires_at is null or token.expires_at > clock_timestamp());

-- The newest tickets and sessions of a token are kept; the surplus is found in their order.
create table login_ticket (
    sha256     text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
    token_id   text not null references token on delete cascade,
    expires_at timestamptz not null
);
create index login_ticket_expires on login_ticket (expires_at);
create index login_ticket_token on login_ticket (token_id, expires_at);

create table session (
    sha256     text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
    token_id   text not null references token on delete cascade,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null
);
create index session_expires on session (expires_at);
create index session_token on session (token_id, created_at);

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


-- Uploads, datasets and splits ------------------------------------------------------------------

-- `host` has received the file and removes it; null: unknown.
create table upload (
    id         text primary key check (id ~ '^upl_[0-9a-hjkmnp-tv-z]{26}$'),
    filename   text not null,
    size       bigint not null check (size >= 0),
    sha256     text not null check (sha256 ~ '^([0-9a-f]{64})?$'),
    received   bigint not null default 0,
    complete   boolean not null default false,
    created_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null,
    host       text,
    constraint upload_check check (received between 0 and size),
    constraint upload_check1 check (not complete or received = size)
);
create index upload_expires on upload (expires_at);
create index upload_open on upload (created_by) where not complete;
create index upload_stored on upload (created_by);

-- One agent at a time checks a dataset in the state `checking`; check_fence fences its writes. A
-- dataset whose check has failed frees its name.
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
    check_fence      text,
    check_expires_at timestamptz,
    preview          jsonb,    -- some samples, for people to look at
    upload_host      text,
    upload_bytes     bigint not null default 0    -- of the file that it was made from
                     check (upload_bytes >= 0),
    check ((state = 'checking') = (checked_at is null)),
    check (state <> 'ready' or report is not null),
    check (state <> 'failed' or problems is not null)
);
create unique index dataset_project_name_key on dataset (project, name) where state <> 'failed';
create index dataset_failed_name on dataset (project, name, id) where state = 'failed';
create index dataset_checking on dataset (id) where state = 'checking';
create index dataset_checking_project on dataset (project) where state = 'checking';
create index dataset_checking_token on dataset (created_by) where state = 'checking';
create index dataset_stored on dataset (project) where source ? 'upload';
create index dataset_stored_token on dataset (created_by) where source ? 'upload';

-- A dataset divided permanently. The manifest is the file store/splits/<id>.json, and `hash` its
-- SHA-256. One agent at a time makes a split in the state `making`; make_fence fences its writes.
create table split (
    id              text primary key check (id ~ '^spl_[0-9a-hjkmnp-tv-z]{26}$'),
    dataset_id      text not null,
    request         jsonb not null,
    state           text not null default 'making' check (state in ('making', 'ready', 'failed')),
    report          jsonb,
    problems        jsonb,
    folds           integer check (folds >= 1),
    hash            text not null default '' check (hash ~ '^(sha256:[0-9a-f]{64})?$'),
    bytes           bigint not null default 0,
    created_by      text not null,
    created_at      timestamptz not null default clock_timestamp(),
    made_at         timestamptz,
    make_host       text,
    make_fence      text,
    make_expires_at timestamptz,
    check ((state = 'making') = (made_at is null)),
    check (state <> 'ready' or (report is not null and folds is not null and hash <> '')),
    check (state <> 'failed' or problems is not null)
);
create index split_dataset on split (dataset_id, id);
create index split_making on split (id) where state = 'making';
create index split_making_token on split (created_by) where state = 'making';

-- A deleted dataset frees its name at once. Jobs and splits lose it in batches afterwards: a
-- foreign key would change all of them in one statement, which can exceed every limit of time.
create table deleted_dataset (
    id         text primary key,
    deleted_at timestamptz not null default clock_timestamp()
);
create index deleted_dataset_order on deleted_dataset (deleted_at, id);

create function dataset_leaves() returns trigger language plpgsql as $$
begin
    insert into deleted_dataset (id) values (old.id);
    return null;
end
$$;
create trigger dataset_leaves after delete on dataset
    for each row execute function dataset_leaves();

-- Replaces a foreign key: the inserting transaction holds the row of the dataset, so that it cannot
-- be deleted meanwhile.
create function dataset_is_there() returns trigger language plpgsql as $$
begin
    perform from dataset where id = new.dataset_id for key share;
    if not found then
        raise exception 'there is no dataset % for a row of %', new.dataset_id, tg_table_name
            using errcode = 'foreign_key_violation',
                  constraint = tg_table_name || '_dataset_id_fkey';
    end if;
    return null;
end
$$;
create trigger split_of_dataset after insert or update of dataset_id on split
    for each row execute function dataset_is_there();


-- Jobs ------------------------------------------------------------------------------------------

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

-- The two tables as constants, for the triggers that ask at each move.
do $$
begin
    execute format('create function job_steps() returns text[] language sql immutable '
                   'return %L::text[]',
                   (select array_agg(from_state || ' ' || to_state order by from_state, to_state)
                    from job_transition));
    execute format('create function final_job_states() returns text[] language sql immutable '
                   'return %L::text[]',
                   (select array_agg(name order by name) from job_state where final));
end
$$;

-- Rows are updated in place (fillfactor). job_guard and job_begins reject states that are not in
-- job_state. Parents are rows of several tables, so there is no foreign key: a parent is deleted
-- after its jobs.
create table job (
    id              text primary key check (id ~ '^job_[0-9a-hjkmnp-tv-z]{26}$'),
    name            text not null check (name <> ''),
    project         text not null check (project <> ''),
    labels          jsonb not null default '{}' check (jsonb_typeof(labels) = 'object'),
    state           text not null default 'queued',
    reason_code     text,
    reason_message  text,
    spec            jsonb not null,
    effective       jsonb,
    progress        jsonb,
    best            jsonb,
    result          jsonb,
    dataset_id      text,
    queue_class     text not null
                    check (queue_class in ('urgent', 'high', 'normal', 'low', 'idle')),
    cores           smallint not null check (cores between 1 and 2048),
    core_id         smallint check (core_id >= 1),
    not_before      timestamptz,
    valid_until     timestamptz,
    event_seq       bigint not null default 1,
    attempts        integer not null default 0,
    restarts        integer not null default 0,
    restarts_max    integer not null check (restarts_max >= 0),
    version         bigint not null default 1,
    created_by      text not null,
    created_at      timestamptz not null default clock_timestamp(),
    started_at      timestamptz,
    finished_at     timestamptz,
    payload         jsonb check (jsonb_typeof(payload) = 'object'),    -- of kinds beside train
    intent          text,            -- what is asked of its live attempt
    -- Paused or ended; null while it waits or holds cores. Lists of such jobs have indexes on it,
    -- which cost nothing at submission and at moves of a live attempt.
    resting_state   text generated always as
                    (case when finished_at is not null or state = 'paused' then state end) stored,
    kind            text not null check (kind in ('train', 'predict', 'evaluate')),
    origin_action   text check (origin_action in ('retry', 'fork')),
    origin_job_id   text,
    continues_from  text,            -- the checkpoint to start from until it has its own
    saves_requested integer not null default 0 check (saves_requested >= 0),
    crash_key       text,            -- how the last attempt vanished, and how often in a row
    crashes         integer not null default 0 check (crashes >= 0),
    pruned          text[] not null default '{}'
                    check (pruned <@ array['events', 'logs', 'metrics']),
    traceparent     text             -- W3C Trace Context of the request that submitted it
                    check (traceparent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'),
    parent_id       text check (parent_id ~ '^(swp|cv)_[0-9a-hjkmnp-tv-z]{26}$'),
    parent_key      text,            -- which part of the parent: a trial or a fold
    -- The states between the previous one and `state`, when one update makes several moves.
    passed          text[] check (passed <@ array['starting', 'compiling', 'running', 'finishing',
                                                  'preempting', 'pausing', 'cancelling']),
    check (core_id is null or cores = 1),
    check ((reason_code is null) = (reason_message is null)),
    constraint job_kind_payload check ((kind = 'train') = (payload is null)),
    constraint job_origin_check check ((origin_action is null) = (origin_job_id is null)),
    constraint job_continues_from_check check (continues_from is null or origin_job_id is not null),
    constraint job_parent_key_check
        check (parent_key <> '' and (parent_id is null) = (parent_key is null)),
    constraint job_intent_fits_state check (
        case state
            when 'cancelling' then coalesce(intent, '') in ('cancel', 'kill')
            when 'pausing' then coalesce(intent, '') = 'pause'
            when 'preempting' then coalesce(intent, '') = 'preempt'
            else intent is null
        end)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

create index job_project on job (project, id);
create index job_dataset on job (dataset_id, id);
create index job_labels on job using gin (labels jsonb_path_ops);
create index job_parent on job (parent_id, id) where parent_id is not null;
create index job_other_kinds on job (kind, id) where kind <> 'train';
create index job_finished on job (finished_at, id) where finished_at is not null;

-- Pages of the jobs in one state, in each order that the API has. `own` are jobs without a parent.
create index job_resting on job (resting_state, id) where resting_state is not null;
create index job_resting_name on job (resting_state, name collate "C", id)
    where resting_state is not null;
create index job_resting_end on job (resting_state, coalesce(finished_at, 'infinity'), id)
    where resting_state is not null;
create index job_own_resting on job (resting_state, id)
    where resting_state is not null and parent_id is null;
create index job_own_resting_end on job (resting_state, coalesce(finished_at, 'infinity'), id)
    where resting_state is not null and parent_id is null;

-- Users of a dataset, a split or an upload, among the few jobs that have not ended.
create index job_unfinished_dataset on job (dataset_id) where finished_at is null;
create index job_unfinished_split on job ((spec #>> '{data,split,id}'))
    where finished_at is null and spec #>> '{data,split,id}' is not null;
create index job_unfinished_upload on job ((spec #>> '{model,init,from}'))
    where finished_at is null and spec #>> '{model,init,from}' is not null;

create trigger job_to_dataset after update of dataset_id on job
    for each row when (new.dataset_id is distinct from old.dataset_id
                       and new.dataset_id is not null)
    execute function dataset_is_there();

-- The filters of list_jobs; null: no such condition.
create function job_matches(listed job, projects text[], name_pattern text,
                                       wanted_labels jsonb, used_dataset text, wanted_kind text,
                                       created tstzrange, finished tstzrange, wanted_parent text)
    returns boolean
    language sql stable
as $$
    select (projects is null or listed.project = any (projects))
       and (name_pattern is null or listed.name ilike name_pattern)
       and (wanted_labels is null or listed.labels @> wanted_labels)
       and (used_dataset is null or listed.dataset_id = used_dataset)
       and (wanted_kind is null or listed.kind = wanted_kind)
       and (created is null or listed.created_at <@ created)
       and (finished is null or listed.finished_at <@ finished)
       and (wanted_parent is null or listed.parent_id = wanted_parent
            or (wanted_parent = 'none' and listed.parent_id is null))
$$;

-- A deleted job is gone at once. Its events and points, which may be millions, are deleted in
-- batches afterwards, and refer to it without a foreign key for the same reason.
create table deleted_job (
    id         text primary key,
    deleted_at timestamptz not null default clock_timestamp()
);
create index deleted_job_order on deleted_job (deleted_at, id);

create function job_leaves() returns trigger language plpgsql as $$
begin
    insert into deleted_job (id) values (old.id);
    return null;
end
$$;
create trigger job_leaves after delete on job
    for each row execute function job_leaves();

-- Replaces a foreign key, once for each statement instead of once for each row. The inserting
-- transaction holds the row of the job, so that it cannot be deleted meanwhile.
create function job_is_there() returns trigger language plpgsql as $$
declare
    missing text;
begin
    select job_id into missing
    from (select distinct job_id from added) as named
    where not exists (select from job where id = named.job_id)
    limit 1;
    if found then
        raise exception 'there is no job % for a row of %', missing, tg_table_name
            using errcode = 'foreign_key_violation';
    end if;
    return null;
end
$$;

-- The history of a job: seq grows by one with each event, in the order of commit.
create table job_event (
    job_id     text not null,
    seq        bigint not null check (seq >= 1),
    type       text not null check (type in ('state', 'progress', 'metric', 'log', 'checkpoint',
                                             'compile', 'warning', 'end')),
    body       json not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (job_id, seq)
);
create index job_event_time on job_event using brin (created_at) with (pages_per_range = 8);

-- An event that a trigger writes is about the row that fired it, which exists.
create trigger job_event_of_job after insert on job_event referencing new table as added
    for each statement
    when (pg_trigger_depth() = 0)
    execute function job_is_there();

-- Events are append-only, except those of a deleted job and those that retention has pruned. States
-- and the end stay as long as the job.
create function job_event_guard() returns trigger
    language plpgsql
as $$
declare
    gone text[];
begin
    if tg_op = 'DELETE' then
        select pruned into gone from job where id = old.job_id;
        if not found
           or (old.type in ('log', 'warning') and 'logs' = any (gone))
           or (old.type not in ('log', 'warning', 'state', 'end') and 'events' = any (gone)) then
            return old;
        end if;
    end if;
    raise exception 'events are append-only';
end
$$;
create trigger job_event_guard before update or delete on job_event
    for each row execute function job_event_guard();
create trigger job_event_keep before truncate on job_event
    for each statement execute function job_event_guard();

-- Jobs whose programs and timeline were deleted: trials that their sweep has discarded. Their
-- reports stay.
create table trimmed_report (
    job_id     text primary key references job on delete cascade,
    trimmed_at timestamptz not null default clock_timestamp()
);


-- Hosts, attempts and cores ---------------------------------------------------------------------

-- `instance` and `home` identify the process that is the agent of the host. `drained` are cores
-- drained one by one; drained_at drains the whole host. A removed host keeps its row, because
-- attempts refer to it and its agent must be refused until it joins again with a token.
create table host (
    name             text primary key check (name <> ''),
    cores            smallint not null check (cores between 1 and 64),
    physical_cpus    integer not null default 0,
    memory_bytes     bigint not null default 0,
    drained          smallint[] not null default '{}',
    heartbeat_at     timestamptz not null default clock_timestamp(),
    instance         text not null default '',
    home             text not null default '',
    job_memory_bytes bigint not null default 0 check (job_memory_bytes >= 0),    -- 0: no limit
    drained_at       timestamptz,
    drain_reason     text not null default '',
    drained_by       text not null default '',    -- tok_…
    removed_at       timestamptz,
    removed_by       text not null default '',
    pool             text not null default 'local'
                     check (pool ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' and pool <> 'any'),
    constraint host_drain_check
        check (drained_at is not null or (drain_reason = '' and drained_by = '')),
    -- Nothing is placed on a drained host, so placement need not know removed ones.
    constraint host_removed_is_drained check (removed_at is null or drained_at is not null)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
create index host_removed on host (home) where removed_at is not null;

create table host_join_token (
    id         text primary key check (id ~ '^hjt_[0-9a-hjkmnp-tv-z]{26}$'),
    sha256     text not null unique check (sha256 ~ '^[0-9a-f]{64}$'),
    host       text check (host <> ''),    -- null: any
    uses_left  integer not null check (uses_left >= 0),
    created_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null
);

-- The store that all hosts share, and the marks that hosts have written there: a host notices a
-- folder that is another store, or a copy, before it runs a job (docs/decisions/0075).
create table shared_store (
    only_row   boolean primary key default true check (only_row),
    id         text not null check (id ~ '^[0-9a-f]{32}$'),
    created_at timestamptz not null default clock_timestamp()
);
create table host_store_mark (
    host text primary key references host on delete cascade,
    mark text not null check (mark ~ '^[0-9a-f]{32}$')
);

-- The fence of an attempt is (job_id, attempt, fence) while ended_at is null: every write names it.
create table attempt (
    job_id       text not null references job on delete cascade,
    attempt      integer not null check (attempt >= 1),
    fence        text not null check (fence ~ '^[0-9a-f]{32}$'),
    resumed_from text not null default '',
    exit_kind    text not null default '',
    exit_status  integer,
    message      text not null default '',
    created_at   timestamptz not null default clock_timestamp(),
    started_at   timestamptz,
    ended_at     timestamptz,
    primary key (job_id, attempt),
    check ((exit_kind = '') = (ended_at is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create unique index attempt_live_once on attempt (job_id) where ended_at is null;

-- One process of an attempt on each of its hosts, by rank from 0; rank 0 relays the frames. Members
-- on several hosts find each other by `rendezvous` and end one by one.
create table attempt_member (
    job_id         text not null,
    attempt        integer not null,
    rank           smallint not null check (rank >= 0),
    host           text not null references host,
    cores          smallint[] not null check (cardinality(cores) >= 1),
    pid            bigint,
    start_ticks    bigint,
    frames_relayed bigint not null default 0 check (frames_relayed >= 0),
    rendezvous     bytea check (octet_length(rendezvous) <= 65536),
    exited_at      timestamptz,
    outcome        jsonb,
    primary key (job_id, attempt, rank),
    unique (job_id, attempt, host),
    foreign key (job_id, attempt) references attempt on delete cascade,
    check ((pid is null) = (start_ticks is null)),
    check ((exited_at is null) = (outcome is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

-- The live attempts by their own index, entry by entry, so that entries of ended ones are marked
-- dead on the way. A bitmap scan would read all of them at each call.
create function live_attempts() returns setof attempt
    language plpgsql stable rows 100
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    return query
    select *
    from attempt
    where ended_at is null;
end
$$;

-- The live ones among these attempts; null: all.
create function live_attempts(ids text[], numbers integer[]) returns setof attempt
    language plpgsql stable rows 100
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    if ids is null then
        return query select * from live_attempts();
        return;
    end if;
    return query
    select found.*
    from (select distinct id, number from unnest(ids, numbers) as asked (id, number)) as asked
    cross join lateral (select *
                        from attempt
                        where job_id = asked.id and attempt = asked.number and ended_at is null
                        offset 0) as found;
end
$$;

-- At the end of each transaction, a job has a live attempt if and only if its state holds cores. So
-- no job returns to the queue or ends while an executor may still write for it. A statement checks
-- its jobs once; the jobs that do not fit yet, because the other half of the change is another
-- statement, are checked again at the commit. The table is empty between transactions.
create table job_to_check (
    job_id       text not null,
    state_before text
);

create function require_fitting_attempt(about text, state_before text) returns void
    language plpgsql
as $$
declare
    present  text;
    is_final boolean;
begin
    select state, final into present, is_final
    from job
    join job_state on job_state.name = job.state
    where id = about;
    if not found then
        return;
    end if;
    if (not is_final and present not in ('queued', 'paused'))
       <> exists (select from attempt where job_id = about and ended_at is null) then
        raise exception 'job % is % and its live attempt does not fit that', about, present
            using errcode = 'SW001', hint = present, detail = coalesce(state_before, present);
    end if;
end
$$;

create function job_checked() returns trigger
    language plpgsql
as $$
begin
    delete from job_to_check where job_id = new.job_id;
    perform require_fitting_attempt(new.job_id, new.state_before);
    return null;
end
$$;
create constraint trigger job_checked after insert on job_to_check
    deferrable initially deferred
    for each row execute function job_checked();

-- Attempts are read by their job, whatever the plan assumes of their number.
create function check_jobs(ids text[], states_before text[]) returns void
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    insert into job_to_check (job_id, state_before)
    select asked.id, asked.state_before
    from unnest(ids, states_before) as asked (id, state_before)
    cross join lateral (select state
                        from job
                        where id = asked.id
                        offset 0) as job
    where (job.state <> all (final_job_states()) and job.state not in ('queued', 'paused'))
          <> exists (select from attempt where job_id = asked.id and ended_at is null offset 0);
end
$$;

create function attempts_fit_jobs() returns trigger
    language plpgsql
as $$
declare
    ids text[] := (select array_agg(distinct job_id) from changed);
begin
    if ids is not null then
        perform check_jobs(ids, null);
    end if;
    return null;
end
$$;
create trigger attempts_begin after insert on attempt
    referencing new table as changed
    for each statement execute function attempts_fit_jobs();
create trigger attempts_change after update on attempt
    referencing new table as changed
    for each statement execute function attempts_fit_jobs();

-- Each core of a host has one row, which says who holds it (docs/decisions/0072). `turn` grows when
-- the core changes hands: the newest version of a row is the last of its key, however many dead
-- versions a long transaction keeps.
create table core_slot (
    host       text not null references host on delete cascade,
    core       smallint not null check (core >= 1),
    turn       bigint not null default 0,
    job_id     text,
    attempt    integer,
    leased_at  timestamptz,
    expires_at timestamptz,
    primary key (host, core, turn),
    foreign key (job_id, attempt) references attempt,
    constraint core_slot_held check (num_nulls(job_id, attempt, leased_at, expires_at) in (0, 4))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 50);
create index core_slot_held_by on core_slot (job_id, attempt) where job_id is not null;

-- A core has one row: no second one is added, and no row becomes that of another core. Only a free
-- core can be taken, and only by a live attempt whose member has the core.
create function core_slots_added() returns trigger
    language plpgsql
as $$
declare
    doubled record;
begin
    -- Two that add rows of one host at the same time look one after the other.
    perform from host where name in (select host from added) order by name for no key update;
    select host, core into doubled
    from core_slot
    where host in (select host from added)
    group by host, core
    having count(*) > 1
    limit 1;
    if found then
        raise exception 'core % of % has a row already', doubled.core, doubled.host
            using errcode = 'unique_violation';
    end if;
    return null;
end
$$;
create trigger core_slots_added after insert on core_slot
    referencing new table as added
    for each statement execute function core_slots_added();

-- Rows that the view `lease` stores are checked at the end of its statement (lease_guard).
create function core_slots_taken() returns trigger
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    bad record;
begin
    if not exists (select from after where job_id is not null) then
        return null;
    end if;
    -- An outer join can only be hashed: a plan that is kept is good for any number of cores.
    with paired as materialized (
        select host, core, before.job_id as held_by, after.job_id, after.attempt
        from before
        full join after using (host, core)
        where after.job_id is not null
          and (before.job_id, before.attempt) is distinct from (after.job_id, after.attempt)
    )
    select * into bad
    from paired
    where held_by is not null
       or not exists (select from attempt_member as member
                      join attempt using (job_id, attempt)
                      where member.job_id = paired.job_id and member.attempt = paired.attempt
                        and member.host = paired.host and paired.core = any (member.cores)
                        and ended_at is null
                      offset 0)
    limit 1;
    if found and bad.held_by is not null then
        raise exception 'core % of % is leased by %', bad.core, bad.host, bad.held_by
            using errcode = 'unique_violation';
    elsif found then
        raise exception 'no live attempt % of % on core % of %',
            bad.attempt, bad.job_id, bad.core, bad.host;
    end if;
    return null;
end
$$;
create trigger core_slots_taken after update on core_slot
    referencing old table as before new table as after
    for each statement
    when (pg_trigger_depth() = 0)
    execute function core_slots_taken();

create function core_slot_stays() returns trigger
    language plpgsql
as $$
begin
    raise exception 'the row of core % of % cannot become that of another core', old.core, old.host;
end
$$;
create trigger core_slot_stays before update of host, core on core_slot
    for each row
    when (new.host <> old.host or new.core <> old.core)
    execute function core_slot_stays();

-- A host has rows for all cores that it has ever had.
create function host_has_slots() returns trigger
    language plpgsql
as $$
begin
    insert into core_slot (host, core)
    select new.name, number
    from generate_series(1, new.cores) as number
    where not exists (select from core_slot where host = new.name and core = number);
    return null;
end
$$;
create trigger host_has_slots after insert or update of cores on host
    for each row execute function host_has_slots();

-- Fails when a statement has got fewer cores than it wanted: another scheduler was faster.
create function has_leased(got bigint, wanted bigint) returns boolean
    language plpgsql
as $$
begin
    if got <> wanted then
        raise exception '% of % cores are leased', wanted - got, wanted
            using errcode = 'unique_violation';
    end if;
    return true;
end
$$;

-- The newest row of each core of a host, or of all hosts; by the end of the key, whatever the plan
-- assumes of the number of rows.
create function newest_slots(of_host text default null) returns setof core_slot
    language plpgsql stable rows 100
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
as $$
begin
    return query
    select slot.*
    from (select name, (select max(core) from core_slot where host = name) as cores
          from host
          where of_host is null or name = of_host
          offset 0) as known
    cross join lateral generate_series(1, known.cores::integer) as number
    cross join lateral (select *
                        from core_slot
                        where host = known.name and core = number
                        order by turn desc
                        limit 1) as slot;
end
$$;

-- The same for these cores.
create function newest_slots(hosts text[], cores smallint[]) returns setof core_slot
    language plpgsql stable rows 100
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
as $$
begin
    return query
    select slot.*
    from unnest(hosts, cores) as asked (of_host, number)
    cross join lateral (select *
                        from core_slot
                        where host = asked.of_host and core = asked.number
                        order by turn desc
                        limit 1) as slot;
end
$$;

-- Held cores, for people and for programs that know no slots.
create view lease as
select host, core, job_id, attempt, leased_at, expires_at
from core_slot
where job_id is not null;

create function lease_begins() returns trigger
    language plpgsql
as $$
begin
    update core_slot
    set turn       = turn + 1,
        job_id     = new.job_id,
        attempt    = new.attempt,
        leased_at  = coalesce(new.leased_at, clock_timestamp()),
        expires_at = new.expires_at
    where host = new.host and core = new.core and job_id is null;
    if not found then
        raise exception 'core % of % is not free', new.core, new.host
            using errcode = 'unique_violation';
    end if;
    return new;
end
$$;
create trigger lease_begins instead of insert on lease
    for each row execute function lease_begins();

-- A program that knows no slots inserts the attempt and its leases in one statement, at whose end
-- both are there.
create function lease_guard() returns trigger
    language plpgsql
as $$
declare
    bad record;
begin
    select * into bad
    from newest_slots() as slot
    where job_id is not null
      and not exists (select from attempt_member as member
                      join attempt using (job_id, attempt)
                      where member.job_id = slot.job_id and member.attempt = slot.attempt
                        and member.host = slot.host and slot.core = any (member.cores)
                        and ended_at is null
                      offset 0)
    limit 1;
    if found then
        raise exception 'no live attempt % of % on core % of %',
            bad.attempt, bad.job_id, bad.core, bad.host;
    end if;
    return null;
end
$$;
create trigger lease_guard after insert on lease
    for each statement execute function lease_guard();

create function lease_ends() returns trigger
    language plpgsql
as $$
begin
    update core_slot
    set turn       = turn + 1,
        job_id     = null,
        attempt    = null,
        leased_at  = null,
        expires_at = null
    where host = old.host and core = old.core and job_id = old.job_id and attempt = old.attempt;
    return old;
end
$$;
create trigger lease_ends instead of delete on lease
    for each row execute function lease_ends();

-- Why the service has drained a core, or would have.
create table core_drain (
    host       text not null references host on delete cascade,
    core       smallint not null check (core >= 1),
    drained_at timestamptz not null default clock_timestamp(),
    reason     text not null,
    primary key (host, core)
);

-- Jobs whose executor vanished or could not start on a core since a job last ran well there.
create table core_failure (
    host   text not null references host on delete cascade,
    core   smallint not null check (core >= 1),
    job_id text not null references job on delete cascade,
    at     timestamptz not null default clock_timestamp(),
    primary key (host, core, job_id)
);
create index core_failure_job on core_failure (job_id);

-- Seconds that the limits of time leave to a job, its live attempt included; null: no limit.
create function time_left_s(about job) returns double precision
    language plpgsql stable
as $$
declare
    limit_s double precision := least((about.spec -> 'limits' ->> 'max_wall_s')::double precision,
                                      (about.spec -> 'limits' ->> 'max_core_s')::double precision
                                      / about.cores);
begin
    if limit_s is null then
        return null;
    end if;
    return greatest(0, limit_s - coalesce(
        (select sum(extract(epoch from ended_at - started_at))
         from attempt
         where job_id = about.id and ended_at is not null and started_at is not null), 0));
end
$$;


-- Checkpoints and metrics -----------------------------------------------------------------------

-- `unwanted`: its own job no longer keeps it; it is deleted with the last job that uses it.
-- `written_by` names the build, the form and the version of the spec; null: a build that did not
-- record them. Checkpoints of a deleted job are deleted in batches, like its events.
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
    unwanted     boolean not null default false,
    written_by   jsonb check (jsonb_typeof(written_by) = 'object'),
    unique (job_id, name)
);
create index checkpoint_newest on checkpoint (job_id, step) where deleted_at is null;

create trigger checkpoint_of_job after insert on checkpoint
    referencing new table as added
    for each statement execute function job_is_there();

-- A job keeps the checkpoint that it starts or predicts from until it has ended.
create table checkpoint_use (
    checkpoint_id text not null references checkpoint,
    job_id        text not null references job on delete cascade,
    primary key (checkpoint_id, job_id)
);
create index checkpoint_use_job on checkpoint_use (job_id);

-- A job that has ended releases the checkpoints that it used.
create function release_checkpoints(of_job text) returns void
    language plpgsql
as $$
declare
    used text;
begin
    for used in delete from checkpoint_use where job_id = of_job returning checkpoint_id loop
        -- Of two users that end together, the second one waits here and finds itself the last.
        perform from checkpoint where id = used for no key update;
        with pruned as (
            update checkpoint
            set deleted_at = clock_timestamp()
            where id = used and unwanted and not pinned and deleted_at is null
              and not exists (select from checkpoint_use where checkpoint_id = used)
            returning job_id, attempt, name
        )
        insert into garbage (path, host)
        select 'checkpoints/' || job_id || '/' || name, member.host
        from pruned
        join attempt_member as member using (job_id, attempt)
        where member.rank = 0;
    end loop;
end
$$;

-- Points of a metric, in chunks of up to 512 (scheduler/store/metrics/chunk.h has the encoding). A
-- full chunk has a summary; the summaries of 512 full chunks are one row of metric_rollup, so that
-- a curve of 20,000,000 points is read from 77 rows. The encoded bytes do not compress further.
create table metric_chunk (
    job_id      text not null,
    name        text not null check (name <> ''),
    first_point bigint not null check (first_point >= 0),
    points      integer not null check (points > 0),
    step_first  bigint not null,
    step_last   bigint not null,
    attempt     integer not null,
    written_at  timestamptz not null default clock_timestamp(),
    summary     bytea check (length(summary) = 68),
    data        bytea not null,
    primary key (job_id, name, step_first),
    constraint metric_chunk_check check (step_last >= step_first),
    constraint metric_chunk_full_check check (summary is null or points = 512)
);
alter table metric_chunk alter column "data" set storage external;

create trigger metric_chunk_of_job after insert on metric_chunk
    referencing new table as added
    for each statement execute function job_is_there();

create table metric_rollup (
    job_id      text not null,
    name        text not null,
    first_point bigint not null,
    step_first  bigint not null,
    step_last   bigint not null,
    data        bytea not null check (length(data) = 512 * 68),
    primary key (job_id, name, step_first)
);

-- The last, lowest and highest value of each metric of a job, without NaN and infinities. Those of
-- jobs that have not ended change with every batch of points: they have no index on a value, so
-- that a change stays within its page, and move to job_metric when the job ends.
create table live_job_metric (
    job_id text not null references job on delete cascade,
    name   text not null check (name <> ''),
    last   double precision,    -- null: it was not finite
    low    double precision,
    high   double precision,
    primary key (job_id, name),
    check ((low is null) = (high is null)),
    check (low <= high)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
create index live_job_metric_name on live_job_metric (name);

create table job_metric (
    job_id text not null references job on delete cascade,
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
-- A job without progress has no metrics.
create trigger job_metrics_settle after update of state on job for each row
    when (new.finished_at is not null and old.finished_at is null and new.progress is not null)
    execute function job_metrics_settle();


-- The queue -------------------------------------------------------------------------------------

create function queue_class_rank(queue_class text) returns smallint
language sql immutable
return array_position(array['urgent', 'high', 'normal', 'low', 'idle'], queue_class) - 1;

-- The pool of jobs that name none; '': any host. One row for all processes on the database.
create table default_pool (
    only_row boolean primary key default true check (only_row),
    pool     text not null default '' check (pool <> 'any')
);
insert into default_pool default values;

create function pool_of(spec jsonb) returns text
    language sql stable
as $$
    select case spec #>> '{queue,pool}'
               when 'any' then ''
               else coalesce(spec #>> '{queue,pool}', (select pool from default_pool))
           end
$$;

-- The memory that placement counts for a job; null: the share of its cores. It is rounded up to 1,
-- 1.25, 1.5 or 1.75 times a power of two, in whole MiB, so that there are few shapes. PL/pgSQL,
-- because a trigger plans a function of language sql again at each call.
create function counted_memory_bytes(spec jsonb) returns bigint
    language plpgsql immutable as $$
declare
    asked bigint := (spec #>> '{accelerator,memory_bytes}')::bigint;
    step  bigint;
begin
    if asked is null then
        return null;
    end if;
    step := greatest(1048576, 1::bigint << greatest(
        length(ltrim(asked::bit(64)::text, '0')) - 3, 0));
    return (asked + step - 1) / step * step;
end
$$;

-- A row exists while, and only while, its job is queued. It keeps what the scheduler reads: whether
-- the dataset is ready, and a time before which the job must not start. A time that has come is
-- cleared (release_due_jobs), so that `ready` depends on the row alone and can be indexed. Jobs of
-- one shape are interchangeable for placement except for their order; 16384 is larger than any
-- number of cores and core id.
create table queue (
    job_id        text primary key references job on delete cascade,
    class_rank    smallint not null check (class_rank between 0 and 4),
    queued_at     timestamptz not null,
    cores         smallint not null,
    core_id       smallint,
    not_before    timestamptz,
    valid_until   timestamptz,
    dataset_id    text,
    dataset_ready boolean not null default false,
    ready         boolean generated always as (not_before is null and dataset_ready) stored,
    project       text not null,
    name          text not null,
    memory_bytes  bigint,
    shape         bigint generated always as
                  (coalesce(memory_bytes / 1048576, 0) * 16384 + cores * 1000
                   + coalesce(core_id, 0)) stored,
    group_name    text not null default '',    -- '': none
    pool          text not null default ''     -- '': any
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 50,
        autovacuum_vacuum_cost_limit = 2000);
create index queue_order on queue (class_rank, queued_at, job_id);
create index queue_project on queue (project, class_rank, queued_at, job_id);
create index queue_name on queue (name collate "C", job_id);
create index queue_due on queue (class_rank, not_before, job_id) where not_before is not null;
create index queue_expiring on queue (valid_until) where valid_until is not null;
create index queue_dataset on queue (dataset_id, job_id) where not dataset_ready;
-- The class is an expression here and where it is read: otherwise the planner may walk all of
-- queue_order and discard the jobs of other projects. Jobs of a group or a pool are a shape of
-- their own, so that they do not hide others while they wait.
create index queue_ready_shape
    on queue (project, group_name, pool, shape, (class_rank::integer), queued_at, job_id)
    where ready;
create index queue_ready_project
    on queue (project, pool, (class_rank::integer), queued_at, job_id) where ready;

-- The next rows of the queue of each of these projects after a position: at most one page.
create function queue_pages(projects text[], after_class_rank smallint, after_queued_at timestamptz,
                            after_job_id text, rows_max bigint) returns setof queue
    language plpgsql stable
as $$
begin
    return query
    select of_project.*
    from (select distinct unnest(projects) as name) as asked
    cross join lateral (select *
                        from queue
                        where queue.project = asked.name
                          and (queue.class_rank, queue.queued_at, queue.job_id)
                            > (after_class_rank, after_queued_at, after_job_id)
                        order by queue.class_rank, queue.queued_at, queue.job_id
                        limit rows_max) as of_project;
end
$$;

-- Groups of jobs of a project, such as a sweep, of which at most jobs_max run at a time. The limit
-- can be changed while jobs of the group wait.
create table job_group (
    project    text not null,
    name       text not null check (name <> ''),
    jobs_max   integer check (jobs_max >= 1),    -- null: no limit
    changed_at timestamptz not null default clock_timestamp(),
    primary key (project, name)
);

-- A job of the group is queued. The newest submission that names a limit sets it; a job that
-- returns restores a group that was deleted. Nothing is written, and no row is locked, when the row
-- is as wanted and was renewed within 30 minutes. A project has at most 200 groups, because each
-- pass of the scheduler looks at all; groups without queued jobs for an hour are deleted.
create function keep_group(of_project text, of_name text, wanted integer, replaces boolean)
    returns void
    language plpgsql as $$
begin
    if exists (select from job_group
               where project = of_project and name = of_name
                 and (wanted is null or jobs_max = wanted or not replaces)
                 and changed_at > clock_timestamp() - interval '30 minutes') then
        return;
    end if;
    if (select count(*) from job_group where project = of_project) >= 200
       and not exists (select from job_group where project = of_project and name = of_name) then
        delete from job_group
        where project = of_project and changed_at < clock_timestamp() - interval '1 hour'
          and not exists (select from queue
                          where queue.project = of_project and group_name = job_group.name);
        if replaces and (select count(*) from job_group where project = of_project) >= 200 then
            raise exception 'project % has 200 groups, the maximum; use one of them, or wait until '
                            'one has been without queued jobs for an hour', of_project
                using errcode = 'SW003';
        end if;
    end if;
    insert into job_group (project, name, jobs_max)
    values (of_project, of_name, wanted)
    on conflict (project, name) do update
    set jobs_max   = case when replaces then coalesce(excluded.jobs_max, job_group.jobs_max)
                          else job_group.jobs_max end,
        changed_at = clock_timestamp();
end
$$;

-- Job counts as changes that maintenance adds up (fold_job_counts): a row that is updated in place
-- would make submissions wait for each other. The columns after queue_class say when a change
-- happened and whether a job was submitted, started or ended; they are added up in job_rate.
create table job_count (
    state       text not null,
    jobs        bigint not null,
    project     text not null,
    created_by  text not null default '',    -- of queued jobs
    queue_class text not null default '',    -- of queued jobs
    at          timestamptz not null default statement_timestamp(),
    submitted   integer not null default 0,
    started     integer not null default 0,
    ended       integer not null default 0,
    waited_s    double precision,            -- of a first start
    is_total    boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
create index job_count_totals on job_count (at) where is_total;
create index job_count_changes on job_count (at) where not is_total;

-- Changes that were added up stay in the table as long as a transaction is open. The sums say so,
-- and only changes since the newest sum are read: five seconds more, for transactions under way.
create view current_job_count as
    select * from job_count where is_total
    union all
    select *
    from job_count
    where not is_total
      and at >= coalesce((select max(at) from job_count where is_total), '-infinity')
                - interval '5 seconds';

create table job_rate (
    at           timestamptz not null,    -- the start of 10 seconds
    project      text not null,
    submitted    bigint not null,
    started      bigint not null,
    ended        bigint not null,
    first_starts bigint not null,
    waited_s     double precision not null,    -- of first starts together
    waited_max_s double precision not null
);
create index job_rate_at on job_rate (at);

create function job_counted() returns trigger language plpgsql as $$
declare
    leaves boolean := tg_op <> 'INSERT';
    enters boolean := tg_op <> 'DELETE';
    starts boolean := tg_op = 'UPDATE' and new.state = 'starting' and old.state <> 'starting';
begin
    if leaves then
        insert into job_count (state, project, created_by, queue_class, jobs)
        values (old.state, old.project,
                case when old.state = 'queued' then old.created_by else '' end,
                case when old.state = 'queued' then old.queue_class else '' end, -1);
    end if;
    if enters then
        insert into job_count (state, project, created_by, queue_class, jobs, submitted, started,
                               ended, waited_s)
        values (new.state, new.project,
                case when new.state = 'queued' then new.created_by else '' end,
                case when new.state = 'queued' then new.queue_class else '' end, 1,
                (not leaves)::integer, starts::integer,
                (leaves and old.finished_at is null and new.finished_at is not null)::integer,
                case when starts and old.started_at is null
                     then extract(epoch from new.started_at - new.created_at) end);
    end if;
    return null;
end
$$;
create trigger job_counted after delete on job
    for each row execute function job_counted();
create trigger job_counted_class after update of queue_class on job
    for each row
    when (old.state = 'queued' and new.state = 'queued' and old.queue_class <> new.queue_class)
    execute function job_counted();

-- How many queued jobs are held, and by what: changes as well, of jobs that are not ready.
create table queue_held_count (
    project    text not null,
    class_rank smallint not null,
    code       text not null check (code in ('start_after', 'waiting_for_dataset')),
    jobs       bigint not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

create function queue_held_counted() returns trigger language plpgsql as $$
begin
    if tg_op <> 'INSERT' and not old.ready then
        insert into queue_held_count (project, class_rank, code, jobs)
        values (old.project, old.class_rank,
                case when old.not_before is not null then 'start_after'
                     else 'waiting_for_dataset' end, -1);
    end if;
    if tg_op <> 'DELETE' and not new.ready then
        insert into queue_held_count (project, class_rank, code, jobs)
        values (new.project, new.class_rank,
                case when new.not_before is not null then 'start_after'
                     else 'waiting_for_dataset' end, 1);
    end if;
    return null;
end
$$;
create trigger queue_held_enters after insert on queue
    for each row when (not new.ready) execute function queue_held_counted();
create trigger queue_held_leaves after delete on queue
    for each row when (not old.ready) execute function queue_held_counted();
create trigger queue_held_changes after update on queue
    for each row
    when ((not old.ready or not new.ready)
          and (old.class_rank, old.not_before is null, old.ready)
              is distinct from (new.class_rank, new.not_before is null, new.ready))
    execute function queue_held_counted();

-- Core-seconds that projects have used. Each attempt that ends adds a row, so that no two ends wait
-- for each other; the leader adds them up.
create table project_usage (
    project      text not null,
    core_seconds double precision not null check (core_seconds >= 0),
    at           timestamptz not null default clock_timestamp(),
    is_total     boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
create index project_usage_totals on project_usage (at) where is_total;
create index project_usage_changes on project_usage (at) where not is_total;

create view current_project_usage as
    select * from project_usage where is_total
    union all
    select *
    from project_usage
    where not is_total
      and at >= coalesce((select max(at) from project_usage where is_total), '-infinity')
                - interval '5 seconds';

-- Core-seconds that are still counted today: half after a day, almost none after 1,000 days.
create function decayed_usage(core_seconds double precision, at timestamptz)
    returns double precision
    language sql stable
    return core_seconds
           * power(2::double precision,
                   - least(1000, greatest(0, extract(epoch from statement_timestamp() - at) / 86400))
                   ::double precision);

-- Weights and decayed usage of these projects, or of all with ready jobs, and of `also`; cores held
-- now are those of live_attempts(ids, numbers).
create function standings_of(projects text[], also text, ids text[], numbers integer[])
    returns table (
        project     text,
        weight      double precision,
        used_core_s double precision
    )
    language plpgsql stable
as $$
begin
    if projects is null then
        projects := array(
            with recursive present (name) as (
                (select queue.project from queue where ready order by queue.project limit 1)
                union all
                select (select queue.project
                        from queue
                        where ready and queue.project > present.name
                        order by queue.project
                        limit 1)
                from present
                where present.name is not null
            )
            select name from present where name is not null);
    end if;
    return query
    with wanted as (
        select unnest(projects) as name
        union
        select also where also is not null
    ), ended as (
        select project_usage.project as name, sum(decayed_usage(core_seconds, at)) as core_seconds
        from current_project_usage as project_usage
        group by project_usage.project
    ), running as (
        select job.project as name,
               sum(job.cores * extract(epoch from statement_timestamp() - attempt.created_at))
                   ::double precision as core_seconds
        from live_attempts(ids, numbers) as attempt
        cross join lateral (select job.project, job.cores
                            from job
                            where job.id = attempt.job_id
                            offset 0) as job
        group by job.project
    )
    select wanted.name, coalesce(known.weight, 1),
           coalesce(ended.core_seconds, 0) + coalesce(running.core_seconds, 0)
    from wanted
    left join project as known using (name)
    left join ended using (name)
    left join running using (name);
end
$$;

create function project_standings(also text default null) returns table (
        project     text,
        weight      double precision,
        used_core_s double precision
    )
    language plpgsql stable
as $$
begin
    return query select * from standings_of(null, also, null, null);
end
$$;

-- The pools that ready jobs of the project wait for, or those of every project; '' is one of them.
create function ready_pools(of_project text) returns table (project text, pool text)
    language plpgsql stable
as $$
begin
    return query
    with recursive present (project, pool) as (
        (select queue.project, queue.pool
         from queue
         where ready and queue.project >= coalesce(of_project, '')
         order by queue.project, queue.pool
         limit 1)
        union all
        select next.project, next.pool
        from present
        cross join lateral (select queue.project, queue.pool
                            from queue
                            where ready
                              and (queue.project, queue.pool) > (present.project, present.pool)
                            order by queue.project, queue.pool
                            limit 1) as next
        where of_project is null or present.project = of_project
    )
    select present.project, present.pool
    from present
    where of_project is null or present.project = of_project;
end
$$;

-- The first ready jobs of each project and pool, with what their order depends on, as in
-- scheduler/placement/fair_share.h: by class, then `used`. A job ahead counts where it may get the
-- same cores. With more than 20 projects the last positions are approximate.
create function ready_in_fair_order(jobs_max bigint) returns table (
    job_id text, project text, pool text, class_rank smallint, used double precision,
    queued_at timestamptz)
    language plpgsql stable
as $$
begin
    return query
    with standing as materialized (
        select all_of_them.*,
               least(jobs_max, greatest(50, 20000 / count(*) over ())) as jobs_read
        from project_standings() as all_of_them
    ), head as (
        select standing.*, first.*
        from standing
        join ready_pools(null) as present on present.project = standing.project
        cross join lateral (
            select queue.job_id, queue.pool, queue.class_rank, queue.queued_at, queue.cores
            from queue
            where ready and queue.project = standing.project and queue.pool = present.pool
            order by queue.class_rank::integer, queue.queued_at, queue.job_id
            limit standing.jobs_read) as first
    )
    select head.job_id, head.project, head.pool, head.class_rank,
           (head.used_core_s
            + 60 * case head.pool
                       when '' then coalesce(sum(head.cores) over before_it, 0)
                       else coalesce(sum(head.cores) filter (where head.pool = '') over before_it,
                                     0)
                            + coalesce(sum(head.cores) over before_it_in_pool, 0)
                   end)
           / head.weight,
           head.queued_at
    from head
    window before_it as (partition by head.project
                         order by head.class_rank, head.queued_at, head.job_id
                         rows between unbounded preceding and 1 preceding),
           before_it_in_pool as (partition by head.project, head.pool
                                 order by head.class_rank, head.queued_at, head.job_id
                                 rows between unbounded preceding and 1 preceding);
end
$$;

-- The position of ready jobs in fair order, among those that may get the same cores.
create function ready_positions(jobs_max bigint) returns table (job_id text, place bigint)
    language plpgsql stable
as $$
begin
    return query
    select ready.job_id,
           case ready.pool
               when '' then row_number() over in_order
               else row_number() over in_pool
                    + count(*) filter (where ready.pool = '') over in_order
           end
    from ready_in_fair_order(jobs_max) as ready
    window in_order as (order by ready.class_rank, ready.used, ready.queued_at, ready.job_id),
           in_pool as (partition by ready.pool
                       order by ready.class_rank, ready.used, ready.queued_at, ready.job_id);
end
$$;


-- Moves of jobs ---------------------------------------------------------------------------------
-- An update of a job's state is checked by job_guard. What follows it is written once for all jobs
-- that a statement stores (job_begins) or moves (job_follow_moves): see docs/decisions/0070.

-- Rejects a move that the table does not have, and reserves the numbers of its events. An update
-- that leaves `passed` unchanged has not set it.
create function job_guard() returns trigger
    language plpgsql
as $$
declare
    here text := old.state;
    step text;
begin
    if new.event_seq < old.event_seq then
        raise exception 'event numbers of % cannot go back', old.id;
    end if;
    if (new.state, new.name, new.labels, new.queue_class)
        is distinct from (old.state, old.name, old.labels, old.queue_class) then
        new.version := old.version + 1;
    end if;
    if new.state = old.state then
        new.passed := old.passed;
        return new;
    end if;
    if new.passed is not distinct from old.passed then
        new.passed := null;
    end if;
    foreach step in array new.passed || new.state loop
        if not (here || ' ' || step) = any (job_steps()) then
            raise exception 'a job that is % cannot become %', here, step
                using errcode = 'SW001', detail = here, hint = step;
        end if;
        here := step;
        new.event_seq := new.event_seq + 1;
    end loop;
    if new.state = any (final_job_states()) then
        new.event_seq := new.event_seq + 1;
        new.finished_at := clock_timestamp();
    elsif new.state = 'starting' and new.started_at is null then
        new.started_at := clock_timestamp();
    end if;
    return new;
end
$$;
-- No other update can break what the guard keeps.
create trigger job_guard before update on job
    for each row
    when (new.event_seq < old.event_seq or new.passed is distinct from old.passed
          or (new.state, new.name, new.labels, new.queue_class)
             is distinct from (old.state, old.name, old.labels, old.queue_class))
    execute function job_guard();

-- The class is checked here, so that no way of changing a job bypasses the limit of its project.
-- Queued jobs stay as they are when the limit changes.
create function job_class_allowed() returns trigger language plpgsql as $$
declare
    allowed text;
begin
    select class_max into allowed
    from project
    where name = new.project;
    if queue_class_rank(new.queue_class) < queue_class_rank(allowed) then
        raise exception 'jobs of project % may be of class % at most, not %', new.project, allowed,
                        new.queue_class
            using errcode = 'SW004', detail = new.queue_class, hint = allowed;
    end if;
    return new;
end
$$;
create trigger job_class_allowed_change before update of queue_class on job
    for each row when (old.queue_class <> new.queue_class) execute function job_class_allowed();

-- Jobs that are stored together share the checks, and the statements that write their first
-- events, counts and queue rows.
create function job_begins() returns trigger
    language plpgsql
as $$
declare
    bad_state   text;
    missing     text;
    bad_class   text[];
    has_groups  boolean;
    has_webhook boolean;
begin
    -- A deletion of the dataset waits for this transaction, or this one for the deletion.
    with held as materialized (
        select id
        from dataset
        where id in (select dataset_id from added)
        order by id
        for key share
    )
    select min(added.state) filter (where added.state <> 'queued' or added.event_seq <> 1),
           min(added.dataset_id) filter (where added.dataset_id is not null and held.id is null),
           min(array[added.project, project.class_max, added.queue_class])
               filter (where queue_class_rank(added.queue_class)
                             < queue_class_rank(project.class_max)),
           coalesce(bool_or(added.spec #>> '{queue,group}' is not null), false),
           coalesce(bool_or(exists (select from webhook where webhook.project = added.project)),
                    false)
    into bad_state, missing, bad_class, has_groups, has_webhook
    from added
    left join held on held.id = added.dataset_id
    left join project on project.name = added.project;
    if bad_state is not null then
        raise exception 'a job begins queued with its first event, not %', bad_state
            using errcode = 'SW001', detail = '', hint = bad_state;
    end if;
    if missing is not null then
        raise exception 'there is no dataset % for a row of job', missing
            using errcode = 'foreign_key_violation', constraint = 'job_dataset_id_fkey';
    end if;
    if bad_class is not null then
        raise exception 'jobs of project % may be of class % at most, not %', bad_class[1],
                        bad_class[2], bad_class[3]
            using errcode = 'SW004', detail = bad_class[3], hint = bad_class[2];
    end if;
    with first_events as (
        insert into job_event (job_id, seq, type, body)
        select id, event_seq, 'state',
               json_build_object('state', state, 'from', null, 'reason', null,
                                 'attempt', attempts, 'restarts', restarts)
        from added
    ), counts as (
        insert into job_count (state, project, created_by, queue_class, jobs, submitted)
        select state, project, created_by, queue_class, count(*), count(*)
        from added
        group by state, project, created_by, queue_class
    )
    insert into queue (job_id, project, name, class_rank, queued_at, cores, core_id, not_before,
                       valid_until, dataset_id, dataset_ready, memory_bytes, group_name, pool)
    select added.id, added.project, added.name, queue_class_rank(added.queue_class),
           added.created_at, added.cores, added.core_id,
           case when added.not_before > clock_timestamp() then added.not_before end,
           added.valid_until, added.dataset_id, coalesce(dataset.state = 'ready', false),
           case when added.spec #>> '{accelerator,memory_bytes}' is not null
                then counted_memory_bytes(added.spec) end,
           coalesce(added.spec #>> '{queue,group}', ''), pool_of(added.spec)
    from added
    left join dataset on dataset.id = added.dataset_id;
    if has_groups then
        -- In one order, so that jobs stored by others at the same time wait for each other at most
        -- once.
        perform keep_group(project, group_name, group_limit, true)
        from (select project, spec #>> '{queue,group}' as group_name,
                     (spec #>> '{queue,group_limit}')::integer as group_limit
              from added
              where spec #>> '{queue,group}' is not null
              order by project, group_name, id) as grouped;
    end if;
    if has_webhook then
        perform webhook_note_job(added, null) from added order by id;
    end if;
    return null;
end
$$;
create trigger job_begins after insert on job referencing new table as added
    for each statement execute function job_begins();

-- Plans are kept, whatever the first statement of a session was: the outer join is hashed even for
-- one row, and tables are read by their indexes.
create function job_follow_moves() returns trigger
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    moved       text[];
    ended       text[];
    queued      text[];
    relisted    text[];
    projects    text[];
    crossing    text[];
    left_states text[];
    of_job      text;
begin
    with paired as materialized (
        select after.id, after.project, after.state, before.state as from_state,
               after.finished_at is not null as ends,
               (after.queue_class, after.name) is distinct from (before.queue_class, before.name)
                   as is_relisted,
               (before.finished_at is null and before.state not in ('queued', 'paused'))
               <> (after.finished_at is null and after.state not in ('queued', 'paused'))
                   as is_crossing
        from before
        full join after using (id)
    )
    select array_agg(id) filter (where state <> from_state),
           array_agg(id order by id) filter (where state <> from_state and ends),
           array_agg(id order by project, id)
               filter (where state <> from_state and state = 'queued'),
           array_agg(id) filter (where state = from_state and state = 'queued' and is_relisted),
           array_agg(distinct project) filter (where state <> from_state),
           array_agg(id) filter (where is_crossing),
           array_agg(from_state) filter (where is_crossing)
    into moved, ended, queued, relisted, projects, crossing, left_states
    from paired;
    if relisted is not null then
        update queue
        set class_rank = queue_class_rank(after.queue_class),
            name       = after.name
        from after
        where queue.job_id = any (relisted) and after.id = queue.job_id;
    end if;
    if crossing is not null then
        perform check_jobs(crossing, left_states);
    end if;
    if moved is null then
        return null;
    end if;
    with paired as materialized (
        select after.id, after.state, before.state as from_state, after.passed || after.state as path,
               after.event_seq, after.finished_at is not null as ends, after.attempts,
               after.restarts, after.project, after.created_by, after.queue_class,
               before.project as from_project, before.created_by as from_created_by,
               before.queue_class as from_queue_class,
               case when after.reason_code is not null
                    then json_build_object('code', after.reason_code,
                                           'message', after.reason_message) end as reason,
               after.state = 'starting' as starts,
               before.finished_at is null and after.finished_at is not null as ends_now,
               case when after.state = 'starting' and before.started_at is null
                    then extract(epoch from after.started_at - after.created_at) end as waited_s
        from before
        full join after using (id)
    ), moves as materialized (
        select *
        from paired
        where state <> from_state
    ), events as (
        insert into job_event (job_id, seq, type, body)
        select id, event_seq - ends::integer - cardinality(path) + place, 'state',
               json_build_object('state', step,
                                 'from', case when place = 1 then from_state
                                              else path[place - 1] end,
                                 'reason', case when place = cardinality(path) then reason end,
                                 'attempt', attempts, 'restarts', restarts)
        from moves
        cross join lateral unnest(path) with ordinality as steps (step, place)
        union all
        select id, event_seq, 'end', json_build_object('state', state, 'reason', reason)
        from moves
        where ends
    ), counts as (
        insert into job_count (state, project, created_by, queue_class, jobs, submitted, started,
                               ended, waited_s)
        select from_state, from_project,
               case when from_state = 'queued' then from_created_by else '' end,
               case when from_state = 'queued' then from_queue_class else '' end,
               -count(*), 0, 0, 0, null::double precision
        from moves
        group by 1, 2, 3, 4
        union all
        select state, project, case when state = 'queued' then created_by else '' end,
               case when state = 'queued' then queue_class else '' end,
               count(*), 0, count(*) filter (where starts), count(*) filter (where ends_now),
               max(waited_s)
        from moves
        -- Who starts for the first time has a row of its own, by which its wait is counted.
        group by 1, 2, 3, 4, case when waited_s is not null then id end
    )
    delete from queue
    using moves
    where moves.from_state = 'queued' and queue.job_id = moves.id;
    if queued is not null then
        -- Who has started once keeps its right to run: valid_until is over for it.
        insert into queue (job_id, project, name, class_rank, queued_at, cores, core_id,
                           not_before, valid_until, dataset_id, dataset_ready, memory_bytes,
                           group_name, pool)
        select id, project, name, queue_class_rank(queue_class), created_at, cores, core_id,
               case when not_before > clock_timestamp() then not_before end,
               case when started_at is null then valid_until end, dataset_id,
               exists (select from dataset where id = after.dataset_id and state = 'ready'),
               counted_memory_bytes(spec), coalesce(spec #>> '{queue,group}', ''),
               pool_of(spec)
        from after
        where id = any (queued);
        perform keep_group(project, spec #>> '{queue,group}',
                           (spec #>> '{queue,group_limit}')::integer, false)
        from (select *
              from after
              where id = any (queued) and spec #>> '{queue,group}' is not null
              order by project, spec #>> '{queue,group}', id) as grouped;
    end if;
    if exists (select from webhook where project = any (projects)) then
        perform (select count(webhook_note_job(it, from_state))
                 from (select it, before.state as from_state
                       from before
                       cross join lateral (select job as it
                                           from job
                                           where id = before.id
                                           offset 0) as found
                       where (it).state <> before.state
                       order by before.id) as moves);
    end if;
    for of_job in select distinct job_id
                  from checkpoint_use
                  where job_id = any (ended)
                  order by job_id loop
        perform release_checkpoints(of_job);
    end loop;
    return null;
end
$$;
create trigger job_follow_moves after update on job
    referencing old table as before new table as after
    for each statement execute function job_follow_moves();


-- Cross-validations and sweeps ------------------------------------------------------------------

-- One configuration trained on every fold of a split. Its jobs name it as their parent: the
-- training of fold 3 has the key "3", the predictions of its validation samples "3-oof", the training on all
-- samples "refit". Dataset and split may be deleted once it has ended.
create table cross_validation (
    id             text primary key check (id ~ '^cv_[0-9a-hjkmnp-tv-z]{26}$'),
    name           text not null,
    project        text not null,
    labels         jsonb not null default '{}',
    state          text not null default 'preparing'
                   check (state in ('preparing', 'running', 'cancelling', 'succeeded', 'failed',
                                    'cancelled')),
    reason_code    text,
    reason_message text,
    spec           jsonb not null,
    dataset_id     text not null,
    split_id       text not null,
    split_hash     text not null default '',    -- of its manifest, once it is ready
    repeats        integer,                     -- of the split, likewise
    oof_rows       bigint,                      -- once out-of-fold predictions are collected
    oof_bytes      bigint,
    oof_sha256     text,
    oof_host       text,
    created_by     text not null,
    created_at     timestamptz not null default clock_timestamp(),
    started_at     timestamptz,
    finished_at    timestamptz,
    event_seq      bigint not null default 0,
    check ((finished_at is not null) = (state in ('succeeded', 'failed', 'cancelled'))),
    check ((oof_rows is null) = (oof_sha256 is null))
);
create index cross_validation_project on cross_validation (project, id);
create index cross_validation_unfinished on cross_validation (id) where finished_at is null;

-- The result of a fold, kept when its jobs are deleted. Fold -1 is the training on all samples.
create table cross_validation_fold (
    cross_validation_id text not null references cross_validation on delete cascade,
    fold                integer not null check (fold >= -1),
    state               text not null default 'waiting'
                        check (state in ('waiting', 'training', 'predicting', 'succeeded',
                                         'failed', 'cancelled')),
    predicts            boolean not null default false,    -- the job of its predictions exists
    reason              text,
    job_id              text,
    prediction_id       text,
    train_samples       bigint not null default 0,
    val_samples         bigint not null default 0,
    result              jsonb,    -- the last evaluation of its training
    finished_at         timestamptz,
    primary key (cross_validation_id, fold),
    check ((finished_at is not null) = (state in ('succeeded', 'failed', 'cancelled')))
);

-- The history of a cross-validation, like that of a job: written with the data, without gaps.
create table cross_validation_event (
    cross_validation_id text not null references cross_validation on delete cascade,
    seq                 bigint not null check (seq >= 1),
    type                text not null check (type in ('state', 'progress', 'end')),
    body                json not null,
    created_at          timestamptz not null default clock_timestamp(),
    primary key (cross_validation_id, seq)
);

create function append_cross_validation_event(of_id text, event_type text, event_body json)
returns void language sql as $$
    with numbered as (
        update cross_validation
        set event_seq = event_seq + 1
        where id = of_id
        returning id, event_seq
    )
    insert into cross_validation_event (cross_validation_id, seq, type, body)
    select id, event_seq, event_type, event_body
    from numbered
$$;

create function cross_validation_moves() returns trigger language plpgsql as $$
declare
    reason json := null;
begin
    if tg_op = 'UPDATE' and new.state = old.state then
        return null;
    end if;
    if new.reason_code is not null then
        reason := json_build_object('code', new.reason_code, 'message', new.reason_message);
    end if;
    perform append_cross_validation_event(
        new.id, 'state',
        json_build_object('state', new.state, 'from', case when tg_op = 'UPDATE' then old.state end,
                          'reason', reason));
    if new.finished_at is not null then
        perform append_cross_validation_event(
            new.id, 'end', json_build_object('state', new.state, 'reason', reason));
    end if;
    return null;
end
$$;
create trigger cross_validation_moves after insert or update of state on cross_validation
    for each row execute function cross_validation_moves();

-- The state `running` implies that all folds wait; a fold that is tried again is reported.
create function cross_validation_fold_moves() returns trigger
    language plpgsql
    as $$
begin
    if tg_op = 'UPDATE' and new.state = old.state or tg_op = 'INSERT' and new.state = 'waiting' then
        return null;
    end if;
    perform append_cross_validation_event(
        new.cross_validation_id, 'progress',
        json_build_object('fold', nullif(new.fold, -1), 'refit', new.fold = -1, 'state', new.state,
                          'from', case when tg_op = 'UPDATE' then old.state end,
                          'reason', new.reason, 'job_id', new.job_id));
    return null;
end
$$;
create trigger cross_validation_fold_moves after insert or update of state on cross_validation_fold
    for each row execute function cross_validation_fold_moves();

-- A hyperparameter search. Its log holds the events of the search, each with the decisions that
-- followed, in one order. Trials are the sum of the log, kept so that they can be listed; the jobs
-- of trials name the sweep as their parent.
create table sweep (
    id             text primary key check (id ~ '^swp_[0-9a-hjkmnp-tv-z]{26}$'),
    name           text not null check (name <> ''),
    project        text not null check (project <> ''),
    labels         jsonb not null default '{}' check (jsonb_typeof(labels) = 'object'),
    state          text not null default 'running'
                   check (state in ('running', 'paused', 'stopping', 'finished', 'stopped',
                                    'failed')),
    reason_code    text,
    reason_message text,
    spec           jsonb not null check (jsonb_typeof(spec) = 'object'),
    known          json not null default '[]',    -- results of earlier sweeps: [{point, value}]
    max_trials     integer not null check (max_trials >= 1),
    max_concurrent integer not null check (max_concurrent >= 1),
    external       boolean not null,              -- its trials run elsewhere
    seq            bigint not null default 0,     -- of the newest event
    trials         integer not null default 0,
    running        integer not null default 0,
    paused         integer not null default 0,
    completed      integer not null default 0,
    stopped        integer not null default 0,
    failed         integer not null default 0,
    best_trial     integer,
    best_value     double precision,
    version        bigint not null default 1,
    created_by     text not null,
    created_at     timestamptz not null default clock_timestamp(),
    finished_at    timestamptz,
    split_id       text,    -- of trials that are cross-validations
    folds          json,    -- of that split: {"dataset_id", "sizes": [{"train", "val"}]}
    tidied         boolean not null default false,    -- discarded checkpoints are deleted
    check ((reason_code is null) = (reason_message is null)),
    check ((best_trial is null) = (best_value is null)),
    check ((finished_at is null) = (state in ('running', 'paused', 'stopping'))),
    check (trials = running + paused + completed + stopped + failed)
);
create index sweep_active on sweep (id) where finished_at is null;
create index sweep_project on sweep (project, id);
create index sweep_split on sweep (split_id) where split_id is not null and finished_at is null;
create index sweep_untidied on sweep (id) where finished_at is not null and not tidied;

create table sweep_event (
    sweep_id  text not null references sweep on delete cascade,
    seq       bigint not null check (seq >= 1),
    at        timestamptz not null default clock_timestamp(),
    event     json not null,
    decisions json not null check (json_typeof(decisions) = 'array'),
    primary key (sweep_id, seq)
);

create table sweep_trial (
    sweep_id    text not null references sweep on delete cascade,
    number      integer not null check (number >= 0),
    state       text not null
                check (state in ('running', 'paused', 'completed', 'stopped', 'failed')),
    point       json not null,
    train_until bigint not null,    -- 0: as its job says
    reports     integer not null,
    last_time   bigint,
    last_value  double precision,
    value       double precision,   -- that it is judged by; null: none that is finite
    value_time  bigint,
    lineage     json not null,
    job_id      text,               -- the newest job
    job_open    boolean not null,   -- its end is not taken into account yet
    jobs        integer not null,
    reason      text,               -- the newest decision about it, or why it failed
    started_at  timestamptz not null default clock_timestamp(),
    ended_at    timestamptz,
    fold_values json not null default '[]',
    primary key (sweep_id, number)
);
create index sweep_trial_open on sweep_trial (sweep_id) where job_open;
create index sweep_trial_value on sweep_trial (sweep_id, value) where value is not null;


-- Webhooks --------------------------------------------------------------------------------------

-- A move of a job writes an event in its own transaction. A dispatcher turns events into
-- deliveries, one for each webhook that wants the event, and sends them. A webhook depends on the
-- token that set its URL; after a rotation, the previous secret signs beside the new one until
-- secret_until.
create table webhook (
    id              text primary key check (id ~ '^whk_[0-9a-hjkmnp-tv-z]{26}$'),
    project         text not null check (project <> ''),
    url             text not null check (url ~ '^https?://'),
    events          text[] not null check (cardinality(events) >= 1),
    secret          text not null check (secret ~ '^whsec_'),
    created_by      text not null,
    created_at      timestamptz not null default clock_timestamp(),
    description     text not null default '' check (length(description) <= 500),
    enabled         boolean not null default true,
    url_set_by      text not null,
    previous_secret text check (previous_secret ~ '^whsec_'),
    secret_until    timestamptz,
    version         bigint not null default 1,
    constraint webhook_previous_secret check ((previous_secret is null) = (secret_until is null))
);
create index webhook_of_project on webhook (project, id);

create table webhook_event (
    id      bigint generated always as identity primary key,
    project text not null,
    type    text not null,
    body    json not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

create table webhook_delivery (
    id            text primary key check (id ~ '^dlv_[0-9a-hjkmnp-tv-z]{26}$'),
    webhook_id    text not null references webhook on delete cascade,
    type          text not null,
    body          text not null,
    state         text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
    attempts      integer not null default 0 check (attempts >= 0),
    -- The next try; of a delivery that is being sent, when another process may take over.
    due_at        timestamptz not null default clock_timestamp(),
    status        integer,
    error         text,
    duration_s    double precision,
    redelivery_of text,
    created_at    timestamptz not null default clock_timestamp(),
    ended_at      timestamptz,
    check ((state = 'pending') = (ended_at is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index webhook_delivery_due on webhook_delivery (webhook_id, due_at) where state = 'pending';
create index webhook_delivery_of on webhook_delivery (webhook_id, id);
create index webhook_delivery_ended on webhook_delivery (ended_at) where state <> 'pending';

-- The event of a move; null: none.
create function webhook_event_type(before text, after text, first_start boolean, ends boolean)
returns text
language sql immutable
return case
    when before is null then 'job.created'
    when ends then 'job.ended'
    when after = 'paused' then 'job.paused'
    when after = 'queued' and before = 'paused' then 'job.resumed'
    when after = 'queued' then 'job.requeued'
    when after = 'starting' and first_start then 'job.started'
end;

-- The state before is the last of `passed`, if there is one.
create function webhook_note_job(about job, before text) returns void
language plpgsql as $$
declare
    event_type text := webhook_event_type(before, about.state, about.attempts <= 1,
                                          about.finished_at is not null);
begin
    if event_type is null
       or not exists (select from webhook where project = about.project) then
        return;
    end if;
    insert into webhook_event (project, type, body)
    values (about.project, event_type,
            json_build_object(
                'id', 'evt_' || substr(about.id, 5) || '_' || about.event_seq,
                'type', event_type,
                'time', to_char(clock_timestamp() at time zone 'UTC',
                                'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'project', about.project,
                'job', json_build_object(
                    'id', about.id, 'name', about.name, 'kind', about.kind,
                    'labels', about.labels, 'state', about.state,
                    'from', coalesce(about.passed[cardinality(about.passed)], before),
                    'reason', case when about.reason_code is not null then
                        json_build_object('code', about.reason_code,
                                          'message', about.reason_message)
                    end,
                    'event_seq', about.event_seq, 'attempts', about.attempts,
                    'restarts', about.restarts, 'best', about.best)));
end
$$;


-- The service itself ----------------------------------------------------------------------------

-- The process that does the periodic work of the database, until when, and in which term: the
-- number that fences a leader who was replaced without noticing.
create table leader (
    name       text primary key,
    holder     text not null,
    term       bigint not null check (term >= 1),
    expires_at timestamptz not null
);

-- An advisory lock that the session of the leader holds: a free lock means that its process ended.
create function leader_lock(leader_name text, leader_term bigint) returns bigint
    language sql immutable
    return hashtextextended('slipway leader ' || leader_name || ' ' || leader_term, 0);

-- The last statement of each transaction of a leader. The row is shared until the commit, which
-- follows at once: no other process becomes the leader in between.
create function check_leader(leader_name text, leader_term bigint) returns void
    language plpgsql as $$
begin
    perform from leader where name = leader_name and term = leader_term for share;
    if not found then
        raise exception 'term % of the leader of % is over', leader_term, leader_name
            using errcode = 'SW002';
    end if;
end
$$;

-- Decisions of the scheduler on a job and their reasons, kept for a week (prune_decisions). No
-- foreign key: a deleted job keeps its decisions until then.
create table decision (
    id          bigint generated always as identity primary key,
    at          timestamptz not null default clock_timestamp(),
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

-- How far retention (scheduler/store/retention.h) has come: jobs are taken in the order of their
-- ends, and `pruned` of each job says what is gone.
create table retention_mark (
    kind        text primary key check (kind in ('events', 'logs', 'metrics', 'checkpoints')),
    finished_at timestamptz not null default '-infinity',
    job_id      text not null default ''
);
insert into retention_mark (kind) values ('events'), ('logs'), ('metrics'), ('checkpoints');

-- Files and folders that no row names, removed by `host`; null: a shared folder, or unknown.
create table garbage (
    id       bigint generated always as identity primary key,
    path     text not null check (path ~ '^[a-z]+/[A-Za-z0-9_./-]+$' and path !~ '\.\.'),
    added_at timestamptz not null default clock_timestamp(),
    host     text,
    tries    integer not null default 0,
    due_at   timestamptz not null default clock_timestamp()
);
create index garbage_due on garbage (due_at, id);

-- Events of followed jobs are stored sooner. A crash of the database empties the table: followers
-- renew their rows.
create unlogged table watched (
    subject text primary key check (length(subject) <= 300),
    until   timestamptz not null
);
