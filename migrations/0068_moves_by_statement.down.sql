create or replace function project_standings(also text DEFAULT NULL::text) returns TABLE(project text, weight double precision, used_core_s double precision)
    language plpgsql STABLE
as $$
begin
    return query
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
    ), wanted as (
        select name from present where name is not null
        union
        select also where also is not null
    ), ended as (
        select project_usage.project as name, sum(decayed_usage(core_seconds, at)) as core_seconds
        from project_usage
        group by project_usage.project
    ), running as (
        select job.project as name,
               sum(job.cores * extract(epoch from statement_timestamp() - attempt.created_at))
                   ::double precision as core_seconds
        from attempt
        join job on job.id = attempt.job_id
        where attempt.ended_at is null
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

drop function live_attempts;

drop trigger lease_guard on lease;
drop trigger attempts_begin on attempt;
drop trigger attempts_change on attempt;
drop trigger job_follow_moves on job;
drop trigger job_guard on job;
drop function attempts_fit_jobs;
drop function job_follow_moves;
drop function check_jobs;
drop table job_to_check;
drop function job_checked;
drop function release_checkpoints;

create or replace function lease_guard() returns trigger
    language plpgsql
as $$
begin
    if not exists (select from attempt_member as member
                   join attempt using (job_id, attempt)
                   where member.job_id = new.job_id and member.attempt = new.attempt
                     and member.host = new.host and new.core = any (member.cores)
                     and ended_at is null) then
        raise exception 'no live attempt % of % on core % of %',
            new.attempt, new.job_id, new.core, new.host;
    end if;
    return null;
end
$$;

create or replace function attempt_fits_job() returns trigger
    language plpgsql
as $$
begin
    perform require_fitting_attempt(new.job_id, null);
    return null;
end
$$;

create or replace function job_fits_attempt() returns trigger
    language plpgsql
as $$
begin
    perform require_fitting_attempt(new.id, old.state);
    return null;
end
$$;

create or replace function checkpoint_release() returns trigger
    language plpgsql
as $$
declare
    used text;
begin
    for used in delete from checkpoint_use where job_id = new.id returning checkpoint_id loop
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
    return null;
end
$$;

create or replace function webhook_note() returns trigger
    language plpgsql
as $$
begin
    if exists (select from webhook where project = new.project) then
        perform webhook_note_job(new, old.state);
    end if;
    return null;
end
$$;

create or replace function job_follow() returns trigger
    language plpgsql
as $$
declare
    ends   boolean := new.finished_at is not null;
    reason json := null;
begin
    if new.state = old.state then
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
                              'from', old.state,
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
    elsif old.state = 'queued' then
        delete from queue where job_id = new.id;
    end if;
    return null;
end
$$;

create or replace function job_guard() returns trigger
    language plpgsql
as $$
begin
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

drop function job_steps;
drop function final_job_states;

CREATE TRIGGER lease_guard AFTER INSERT ON lease FOR EACH ROW EXECUTE FUNCTION lease_guard();
CREATE CONSTRAINT TRIGGER attempt_fits_job AFTER INSERT OR UPDATE OF ended_at ON attempt DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION attempt_fits_job();
CREATE CONSTRAINT TRIGGER job_fits_attempt AFTER UPDATE OF state ON job DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((old.finished_at IS NULL) AND (old.state <> ALL (ARRAY['queued'::text, 'paused'::text]))) IS DISTINCT FROM ((new.finished_at IS NULL) AND (new.state <> ALL (ARRAY['queued'::text, 'paused'::text]))))) EXECUTE FUNCTION job_fits_attempt();
CREATE TRIGGER checkpoint_release AFTER UPDATE ON job FOR EACH ROW WHEN (((old.finished_at IS NULL) AND (new.finished_at IS NOT NULL))) EXECUTE FUNCTION checkpoint_release();
CREATE TRIGGER webhook_note_move AFTER UPDATE OF state ON job FOR EACH ROW WHEN ((old.state IS DISTINCT FROM new.state)) EXECUTE FUNCTION webhook_note();
CREATE TRIGGER job_counted_move AFTER UPDATE OF state ON job FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION job_counted();
CREATE TRIGGER job_follow AFTER UPDATE ON job FOR EACH ROW WHEN (((old.state <> new.state) OR (old.queue_class <> new.queue_class) OR (old.name <> new.name))) EXECUTE FUNCTION job_follow();
CREATE TRIGGER job_guard BEFORE UPDATE ON job FOR EACH ROW EXECUTE FUNCTION job_guard();

alter table job drop column passed;
