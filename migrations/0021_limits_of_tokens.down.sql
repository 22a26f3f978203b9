drop index dataset_checking_token;

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

alter table job_count drop column created_by;
