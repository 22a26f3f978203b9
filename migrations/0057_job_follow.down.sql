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
                           not_before, valid_until, dataset_id, dataset_ready, memory_bytes,
                           group_name)
        values (new.id, new.project, new.name, queue_class_rank(new.queue_class), new.created_at,
                new.cores, new.core_id,
                case when new.not_before > clock_timestamp() then new.not_before end,
                case when new.started_at is null then new.valid_until end, new.dataset_id,
                exists (select from dataset where id = new.dataset_id and state = 'ready'),
                counted_memory_bytes(new.spec), coalesce(new.spec #>> '{queue,group}', ''));
        if new.spec #>> '{queue,group}' is not null then
            perform keep_group(new.project, new.spec #>> '{queue,group}',
                               (new.spec #>> '{queue,group_limit}')::integer, false);
        end if;
    elsif tg_op = 'UPDATE' and old.state = 'queued' then
        delete from queue where job_id = new.id;
    end if;
    return null;
end
$$;
