-- Webhooks. A state change of a job writes an event into the outbox in its own transaction; a
-- dispatcher turns events into deliveries, one for each webhook that wants it, and sends them.
create table webhook (
    id         text primary key check (id ~ '^whk_[0-9a-hjkmnp-tv-z]{26}$'),
    project    text not null check (project <> ''),
    url        text not null check (url ~ '^https?://'),
    events     text[] not null check (cardinality(events) >= 1),
    secret     text not null check (secret ~ '^whsec_'),
    created_by text not null,
    created_at timestamptz not null default clock_timestamp()
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
    webhook_id    text not null references webhook (id) on delete cascade,
    type          text not null,
    body          text not null,
    state         text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
    attempts      integer not null default 0 check (attempts >= 0),
    -- When it may be sent next; of one that is being sent, when another process may take over.
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

-- Which event a move of a job is; null: none.
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

create function webhook_note() returns trigger language plpgsql as $$
declare
    before     text := case when tg_op = 'UPDATE' then old.state end;
    event_type text;
begin
    -- Most projects have no webhook: they pay for one look at an index.
    if not exists (select from webhook where project = new.project) then
        return null;
    end if;
    event_type := webhook_event_type(before, new.state, new.attempts <= 1,
                                     new.finished_at is not null);
    if event_type is null then
        return null;
    end if;
    insert into webhook_event (project, type, body)
    values (new.project, event_type,
            json_build_object(
                'id', 'evt_' || substr(new.id, 5) || '_' || new.event_seq,
                'type', event_type,
                'time', to_char(clock_timestamp() at time zone 'UTC',
                                'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'project', new.project,
                'job', json_build_object(
                    'id', new.id, 'name', new.name, 'kind', new.kind, 'labels', new.labels,
                    'state', new.state, 'from', before,
                    'reason', case when new.reason_code is not null then
                        json_build_object('code', new.reason_code, 'message', new.reason_message)
                    end,
                    'event_seq', new.event_seq, 'attempts', new.attempts,
                    'restarts', new.restarts, 'best', new.best)));
    return null;
end
$$;
create trigger webhook_note_insert after insert on job for each row execute function webhook_note();
create trigger webhook_note_move after update of state on job for each row
    when (old.state is distinct from new.state) execute function webhook_note();
