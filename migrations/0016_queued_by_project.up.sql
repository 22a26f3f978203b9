-- Jobs are counted by project as well: a project may have so many in the queue.

truncate job_count;
alter table job_count add column project text not null;
insert into job_count (state, project, jobs)
select state, project, count(*)
from job
group by state, project;

create or replace function job_counted() returns trigger language plpgsql as $$
begin
    if tg_op <> 'INSERT' then
        insert into job_count (state, project, jobs) values (old.state, old.project, -1);
    end if;
    if tg_op <> 'DELETE' then
        insert into job_count (state, project, jobs) values (new.state, new.project, 1);
    end if;
    return null;
end
$$;

-- How many uploads a token has open, and datasets a project has checked, is asked with each new one.
create index upload_open on upload (created_by) where not complete;
create index dataset_checking_project on dataset (project) where state = 'checking';
create index token_maker on token (created_by) where revoked_at is null;
