-- Whose disk a path of garbage is on, and when to try again one that could not be removed.

-- The host whose agent removes it; null: what hosts share, or where that is not known.
alter table garbage add column host text;
alter table garbage add column tries integer not null default 0;
alter table garbage add column due_at timestamptz not null default clock_timestamp();

create index garbage_due on garbage (due_at, id);

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
            returning job_id, attempt, name
        )
        insert into garbage (path, host)
        select 'checkpoints/' || job_id || '/' || name, attempt.host
        from dropped
        join attempt using (job_id, attempt);
    end loop;
    return null;
end
$$;
