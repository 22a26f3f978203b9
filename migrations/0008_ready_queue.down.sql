drop trigger job_counted_move on job;
drop trigger job_counted on job;
drop function job_counted();
drop table job_count;
drop trigger dataset_follow on dataset;
drop function dataset_follow();
alter table queue rename column queued_at to age_key;

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
        insert into queue (job_id, class_rank, age_key, cores, core_id, not_before, valid_until)
        values (new.id, queue_class_rank(new.queue_class), new.created_at, new.cores, new.core_id,
                new.not_before, new.valid_until);
    elsif tg_op = 'UPDATE' and old.state = 'queued' then
        delete from queue where job_id = new.id;
    end if;
    return null;
end
$$;

drop index queue_dataset;
drop index queue_expiring;
drop index queue_due;
drop index queue_ready;
alter table queue
    drop column shape,
    drop column ready,
    drop column dataset_ready,
    drop column dataset_id;
-- What the queue forgot, the jobs still know.
update queue
set not_before = job.not_before
from job
where job.id = queue.job_id;
