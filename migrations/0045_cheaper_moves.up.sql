-- What follows each update of a job was: two calls of functions that looked whether anything was to
-- be done, a check at the commit that wrote the whole job as JSON to read its id, and for each event
-- a check that its job is there. It is done now only where it can say something.
create function require_fitting_attempt(about text, state_before text) returns void
    language plpgsql
as $$
declare
    present  text;
    is_final boolean;
begin
    select state, final into present, is_final
    from job
    join job_state on job_state.name = job.state
    where id = about;
    if not found then
        return;
    end if;
    if (not is_final and present not in ('queued', 'paused'))
       <> exists (select from attempt where job_id = about and ended_at is null) then
        raise exception 'job % is % and its live attempt does not fit that', about, present
            using errcode = 'SW001', hint = present, detail = coalesce(state_before, present);
    end if;
end
$$;

create function job_fits_attempt() returns trigger
    language plpgsql
as $$
begin
    perform require_fitting_attempt(new.id, old.state);
    return null;
end
$$;

create function attempt_fits_job() returns trigger
    language plpgsql
as $$
begin
    perform require_fitting_attempt(new.job_id, null);
    return null;
end
$$;

-- A move between two states that both have a live attempt, or both have none, cannot break it.
drop trigger job_fits_attempt on job;
create constraint trigger job_fits_attempt after update of state on job
    deferrable initially deferred
    for each row
    when ((old.finished_at is null and old.state not in ('queued', 'paused'))
          is distinct from (new.finished_at is null and new.state not in ('queued', 'paused')))
    execute function job_fits_attempt();

drop trigger attempt_fits_job on attempt;
create constraint trigger attempt_fits_job after insert or update of ended_at on attempt
    deferrable initially deferred
    for each row execute function attempt_fits_job();

drop function attempt_fits_state;

drop trigger job_follow on job;
create trigger job_follow after update on job
    for each row
    when (old.state <> new.state
          or old.queue_class <> new.queue_class
          or old.name <> new.name)
    execute function job_follow();

-- An event that a trigger writes is about the row that fired it.
drop trigger job_event_of_job on job_event;
create trigger job_event_of_job after insert on job_event referencing new table as added
    for each statement
    when (pg_trigger_depth() = 0)
    execute function job_is_there();
