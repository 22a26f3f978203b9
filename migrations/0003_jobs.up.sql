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
