-- A queue whose head holds only what can start: no number of held jobs is in the way of a ready one.

-- What holds a queued job back, kept where the scheduler reads: its dataset's state, and a time. A
-- time that has come is forgotten (release_due_jobs), so that `ready` depends on the row alone and
-- can be indexed. Jobs of one shape are interchangeable for placement but for their order.
alter table queue rename column age_key to queued_at;
alter table queue
    add column dataset_id text,
    add column dataset_ready boolean not null default false;
update queue
set dataset_id    = job.dataset_id,
    dataset_ready = exists (select from dataset where id = job.dataset_id and state = 'ready'),
    valid_until   = case when job.started_at is null then queue.valid_until end
from job
where job.id = queue.job_id;
alter table queue
    add column ready boolean generated always as (not_before is null and dataset_ready) stored,
    add column shape integer generated always as (cores * 1000 + coalesce(core_id, 0)) stored;
create index queue_ready on queue (shape, class_rank, queued_at, job_id) where ready;
create index queue_due on queue (class_rank, not_before, job_id) where not_before is not null;
create index queue_expiring on queue (valid_until) where valid_until is not null;
create index queue_dataset on queue (dataset_id) where not dataset_ready;

create or replace function job_follow() returns trigger language plpgsql as $$
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
        -- Who has started once keeps its right to run: valid_until is over for it.
        insert into queue (job_id, class_rank, queued_at, cores, core_id, not_before, valid_until,
                           dataset_id, dataset_ready)
        values (new.id, queue_class_rank(new.queue_class), new.created_at, new.cores, new.core_id,
                case when new.not_before > clock_timestamp() then new.not_before end,
                case when new.started_at is null then new.valid_until end, new.dataset_id,
                exists (select from dataset where id = new.dataset_id and state = 'ready'));
    elsif tg_op = 'UPDATE' and old.state = 'queued' then
        delete from queue where job_id = new.id;
    end if;
    return null;
end
$$;

-- The jobs that wait for a dataset follow its state. Rows in the order of their ids, as everywhere.
create function dataset_follow() returns trigger language plpgsql as $$
begin
    update queue
    set dataset_ready = true
    from (select job_id
          from queue
          where dataset_id = new.id and not dataset_ready
          order by job_id
          for no key update) as waiting
    where queue.job_id = waiting.job_id;
    return null;
end
$$;
create trigger dataset_follow after update of state on dataset
    for each row when (old.state <> 'ready' and new.state = 'ready')
    execute function dataset_follow();

-- How many jobs are in each state, as changes that maintenance adds up (fold_job_counts): a row to
-- update in place would make all submissions wait for each other.
create table job_count (
    state text not null,
    jobs  bigint not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
insert into job_count (state, jobs)
select state, count(*)
from job
group by state;

create function job_counted() returns trigger language plpgsql as $$
begin
    if tg_op <> 'INSERT' then
        insert into job_count (state, jobs) values (old.state, -1);
    end if;
    if tg_op <> 'DELETE' then
        insert into job_count (state, jobs) values (new.state, 1);
    end if;
    return null;
end
$$;
create trigger job_counted after insert or delete on job
    for each row execute function job_counted();
create trigger job_counted_move after update of state on job
    for each row when (old.state <> new.state) execute function job_counted();
