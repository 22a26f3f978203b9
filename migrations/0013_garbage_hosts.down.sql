create or replace function checkpoint_release() returns trigger language plpgsql as $$
declare
    used text;
begin
    for used in delete from checkpoint_use where job_id = new.id returning checkpoint_id loop
        -- Of two users that end together, the second one waits here and finds itself the last.
        perform from checkpoint where id = used for no key update;
        with dropped as (
            update checkpoint
            set deleted_at = clock_timestamp()
            where id = used and unwanted and not pinned and deleted_at is null
              and not exists (select from checkpoint_use where checkpoint_id = used)
            returning job_id, name
        )
        insert into garbage (path)
        select 'checkpoints/' || job_id || '/' || name
        from dropped;
    end loop;
    return null;
end
$$;

drop index garbage_due;
alter table garbage drop column due_at;
alter table garbage drop column tries;
alter table garbage drop column host;
