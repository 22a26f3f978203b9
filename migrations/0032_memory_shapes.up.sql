-- The scheduler reads the first jobs of each shape alone: jobs of one shape must be interchangeable.
-- Since placement counts memory, it is part of the shape: else jobs that ask for more than any host
-- has now would hide the others of their cores. So that there are few shapes, memory counts in steps
-- of at most a quarter: whole MiB, rounded up to 1, 1.25, 1.5 or 1.75 times a power of two.

-- The memory that placement counts for a job of this spec; null: the share of its cores.
create function counted_memory_bytes(spec jsonb) returns bigint language sql immutable as $$
    select (asked + step - 1) / step * step
    from (select (spec #>> '{accelerator,memory_bytes}')::bigint as asked) as of_spec
    cross join lateral (
        select greatest(1048576, 1::bigint << greatest(
            length(ltrim(asked::bit(64)::text, '0')) - 3, 0)) as step) as rounding
$$;

drop index queue_ready;
alter table queue
    drop column shape,
    add column memory_bytes bigint;
update queue
set memory_bytes = counted_memory_bytes(job.spec)
from job
where job.id = queue.job_id;
-- 16384 is more than the largest number of cores and core.
alter table queue
    add column shape bigint generated always as
        (coalesce(memory_bytes / 1048576, 0) * 16384 + cores * 1000 + coalesce(core_id, 0)) stored;
create index queue_ready on queue (shape, class_rank, queued_at, job_id) where ready;

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
