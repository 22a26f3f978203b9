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
                       valid_until, dataset_id, dataset_ready, memory_bytes)
    select added.id, added.project, added.name, queue_class_rank(added.queue_class),
           added.created_at, added.cores, added.core_id,
           case when added.not_before > clock_timestamp() then added.not_before end,
           added.valid_until, added.dataset_id, coalesce(dataset.state = 'ready', false),
           counted_memory_bytes(added.spec)
    from added
    left join dataset on dataset.id = added.dataset_id;
    insert into job_count (state, project, created_by, queue_class, jobs, submitted)
    select state, project, created_by, queue_class, count(*), count(*)
    from added
    group by state, project, created_by, queue_class;
    return null;
end
$$;

create or replace function job_follow() returns trigger language plpgsql as $$
declare
    ends   boolean := new.finished_at is not null;
    reason json := null;
begin
    if tg_op = 'UPDATE' and new.state = old.state then
        if new.state = 'queued'
           and (new.queue_class, new.name) is distinct from (old.queue_class, old.name) then
            update queue
            set class_rank = queue_class_rank(new.queue_class),
                name       = new.name
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
        -- Who has started once keeps its right to run: valid_until is over for it.
        insert into queue (job_id, project, name, class_rank, queued_at, cores, core_id,
                           not_before, valid_until, dataset_id, dataset_ready, memory_bytes)
        values (new.id, new.project, new.name, queue_class_rank(new.queue_class), new.created_at,
                new.cores, new.core_id,
                case when new.not_before > clock_timestamp() then new.not_before end,
                case when new.started_at is null then new.valid_until end, new.dataset_id,
                exists (select from dataset where id = new.dataset_id and state = 'ready'),
                counted_memory_bytes(new.spec));
    elsif tg_op = 'UPDATE' and old.state = 'queued' then
        delete from queue where job_id = new.id;
    end if;
    return null;
end
$$;

drop index queue_ready_shape;
alter table queue drop column group_name;
create index queue_ready_shape
    on queue (project, shape, (class_rank::integer), queued_at, job_id) where ready;
drop function keep_group;
drop table job_group;
