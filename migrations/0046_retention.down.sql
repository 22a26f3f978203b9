create or replace function job_event_guard() returns trigger
    language plpgsql
as $$
begin
    if tg_op = 'DELETE' and not exists (select from job where id = old.job_id) then
        return old;
    end if;
    raise exception 'events are append-only';
end
$$;
drop table retention_mark;
drop index job_finished;
alter table job drop column pruned;
