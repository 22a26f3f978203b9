drop trigger queue_held_changes on queue;
drop trigger queue_held_leaves on queue;
drop trigger queue_held_enters on queue;
drop function queue_held_counted;
drop table queue_held_count;
drop trigger job_counted_class on job;
create or replace function job_counted() returns trigger language plpgsql as $$
begin
    if tg_op <> 'INSERT' then
        insert into job_count (state, project, created_by, jobs)
        values (old.state, old.project,
                case when old.state = 'queued' then old.created_by else '' end, -1);
    end if;
    if tg_op <> 'DELETE' then
        insert into job_count (state, project, created_by, jobs)
        values (new.state, new.project,
                case when new.state = 'queued' then new.created_by else '' end, 1);
    end if;
    return null;
end
$$;
drop table job_rate;
alter table job_count
    drop column waited_s,
    drop column ended,
    drop column started,
    drop column submitted,
    drop column at,
    drop column queue_class;
