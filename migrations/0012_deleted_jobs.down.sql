drop trigger metric_point_of_job on metric_point;
drop trigger job_event_of_job on job_event;
drop function job_is_there();

delete from metric_point where job_id in (select id from deleted_job);
delete from job_event where job_id in (select id from deleted_job);

create or replace function job_event_guard() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and pg_trigger_depth() > 1 then
        return old;
    end if;
    raise exception 'events are append-only';
end
$$;

alter table metric_point add constraint metric_point_job_id_fkey
    foreign key (job_id) references job (id) on delete cascade;
alter table job_event add constraint job_event_job_id_fkey
    foreign key (job_id) references job (id) on delete cascade;

drop trigger job_leaves on job;
drop function job_leaves();
drop table deleted_job;
