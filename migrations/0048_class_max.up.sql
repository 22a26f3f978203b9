-- The most urgent class that the jobs of a project may have; null: any. Checked here, so that no way
-- of submitting or changing a job passes it by. Jobs that are in the queue already stay as they are.
alter table project
    add column class_max text,
    add constraint project_class_max_check
        check (class_max in ('urgent', 'high', 'normal', 'low', 'idle'));

create function job_class_allowed() returns trigger language plpgsql as $$
declare
    allowed text;
begin
    select class_max into allowed
    from project
    where name = new.project;
    if queue_class_rank(new.queue_class) < queue_class_rank(allowed) then
        raise exception 'jobs of project % may be of class % at most, not %', new.project, allowed,
                        new.queue_class
            using errcode = 'SW004', detail = new.queue_class, hint = allowed;
    end if;
    return new;
end
$$;
create trigger job_class_allowed before insert on job
    for each row execute function job_class_allowed();
create trigger job_class_allowed_change before update of queue_class on job
    for each row when (old.queue_class <> new.queue_class) execute function job_class_allowed();
