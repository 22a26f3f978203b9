drop trigger job_guard on job;
drop function webhook_note_job;

create or replace function job_begins() returns trigger
    language plpgsql
as $$
declare
    missing text;
begin
    -- Whoever is about to delete the dataset waits for this transaction, or this one for it.
    perform from dataset where id in (select dataset_id from added) order by id for key share;
    select dataset_id into missing
    from added
    where dataset_id is not null
      and not exists (select from dataset where dataset.id = added.dataset_id)
    limit 1;
    if found then
        raise exception 'there is no dataset % for a row of job', missing
            using errcode = 'foreign_key_violation', constraint = 'job_dataset_id_fkey';
    end if;
    insert into job_event (job_id, seq, type, body)
    select id, event_seq, 'state',
           json_build_object('state', state, 'from', null, 'reason', null, 'attempt', attempts,
                             'restarts', restarts)
    from added;
    insert into queue (job_id, project, name, class_rank, queued_at, cores, core_id, not_before,
                       valid_until, dataset_id, dataset_ready, memory_bytes, group_name)
    select added.id, added.project, added.name, queue_class_rank(added.queue_class),
           added.created_at, added.cores, added.core_id,
           case when added.not_before > clock_timestamp() then added.not_before end,
           added.valid_until, added.dataset_id, coalesce(dataset.state = 'ready', false),
           counted_memory_bytes(added.spec), coalesce(added.spec #>> '{queue,group}', '')
    from added
    left join dataset on dataset.id = added.dataset_id;
    -- In one order, so that jobs stored by others at the same time wait for each other at most once.
    perform keep_group(project, group_name, group_limit, true)
    from (select project, spec #>> '{queue,group}' as group_name,
                 (spec #>> '{queue,group_limit}')::integer as group_limit
          from added
          where spec #>> '{queue,group}' is not null
          order by project, group_name, id) as grouped;
    insert into job_count (state, project, created_by, queue_class, jobs, submitted)
    select state, project, created_by, queue_class, count(*), count(*)
    from added
    group by state, project, created_by, queue_class;
    return null;
end
$$;

create or replace function job_guard() returns trigger
    language plpgsql
as $$
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

create or replace function webhook_note() returns trigger
    language plpgsql
as $$
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

create trigger job_guard before insert or update on job
    for each row execute function job_guard();
create trigger job_class_allowed before insert on job
    for each row execute function job_class_allowed();
create trigger webhook_note_insert after insert on job
    for each row execute function webhook_note();
alter table job alter column event_seq set default 0;
alter table job
    add constraint job_state_fkey foreign key (state) references job_state (name);
