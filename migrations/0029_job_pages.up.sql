-- A page of the jobs in one state, in each order that the API has, reads no other jobs.

-- Where a job rests: paused or ended; null while it waits or holds cores. Those are found by the
-- queue and by their live attempts. A column of its own, so that the indexes below cost nothing when
-- a job is submitted, and the moves between the states of a live attempt stay within their page.
alter table job add column resting_state text
    generated always as (case when finished_at is not null or state = 'paused' then state end)
    stored;
create index job_resting on job (resting_state, id) where resting_state is not null;
create index job_resting_name on job (resting_state, name collate "C", id)
    where resting_state is not null;
create index job_resting_end on job (resting_state, (coalesce(finished_at, 'infinity')), id)
    where resting_state is not null;

-- What a list of jobs is narrowed by, beside their states; null: no such condition.
create function job_matches(listed job, projects text[], name_pattern text, wanted_labels jsonb,
                            used_dataset text, predicts boolean) returns boolean
language sql stable as $$
    select (projects is null or listed.project = any (projects))
       and (name_pattern is null or listed.name ilike name_pattern)
       and (wanted_labels is null or listed.labels @> wanted_labels)
       and (used_dataset is null or listed.dataset_id = used_dataset)
       and (predicts is null or (listed.prediction is not null) = predicts)
$$;

alter table queue add column name text;
update queue
set name = job.name
from job
where job.id = queue.job_id;
alter table queue alter column name set not null;
create index queue_name on queue (name collate "C", job_id);

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
                           not_before, valid_until, dataset_id, dataset_ready)
        values (new.id, new.project, new.name, queue_class_rank(new.queue_class), new.created_at,
                new.cores, new.core_id,
                case when new.not_before > clock_timestamp() then new.not_before end,
                case when new.started_at is null then new.valid_until end, new.dataset_id,
                exists (select from dataset where id = new.dataset_id and state = 'ready'));
    elsif tg_op = 'UPDATE' and old.state = 'queued' then
        delete from queue where job_id = new.id;
    end if;
    return null;
end
$$;
