drop trigger job_event_of_job on job_event;
create trigger job_event_of_job after insert on job_event referencing new table as added
    for each statement execute function job_is_there();

drop trigger job_follow on job;
create trigger job_follow after update on job
    for each row execute function job_follow();

create function attempt_fits_state() returns trigger
    language plpgsql
as $$
declare
    about    text := case tg_table_name when 'job' then to_jsonb(new) ->> 'id'
                                        else to_jsonb(new) ->> 'job_id' end;
    present  text;
    is_final boolean;
begin
    select state, final into present, is_final
    from job
    join job_state on job_state.name = job.state
    where id = about;
    if not found then
        return null;
    end if;
    if (not is_final and present not in ('queued', 'paused'))
       <> exists (select from attempt where job_id = about and ended_at is null) then
        raise exception 'job % is % and its live attempt does not fit that', about, present
            using errcode = 'SW001', hint = present,
                  detail = case when tg_table_name = 'job' and tg_op = 'UPDATE'
                                then to_jsonb(old) ->> 'state' else present end;
    end if;
    return null;
end
$$;

drop trigger attempt_fits_job on attempt;
create constraint trigger attempt_fits_job after insert or update of ended_at on attempt
    deferrable initially deferred
    for each row execute function attempt_fits_state();
drop trigger job_fits_attempt on job;
create constraint trigger job_fits_attempt after update of state on job
    deferrable initially deferred
    for each row execute function attempt_fits_state();

drop function attempt_fits_job;
drop function job_fits_attempt;
drop function require_fitting_attempt;
