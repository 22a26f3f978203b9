drop index token_maker;
drop index dataset_checking_project;
drop index upload_open;

create or replace function job_counted() returns trigger language plpgsql as $$
begin
    if tg_op <> 'INSERT' then
        insert into job_count (state, jobs) values (old.state, -1);
    end if;
    if tg_op <> 'DELETE' then
        insert into job_count (state, jobs) values (new.state, 1);
    end if;
    return null;
end
$$;

alter table job_count drop column project;
