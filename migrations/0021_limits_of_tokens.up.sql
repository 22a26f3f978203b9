-- A token may have so many jobs in the queue, too, and datasets that wait for their check: whoever
-- may name any project would have the limits of all of them. Of jobs that are not queued nobody
-- asks, and their rows stay few.
truncate job_count;
alter table job_count add column created_by text not null default '';
insert into job_count (state, project, created_by, jobs)
select state, project, case when state = 'queued' then created_by else '' end, count(*)
from job
group by 1, 2, 3;

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

create index dataset_checking_token on dataset (created_by) where state = 'checking';
