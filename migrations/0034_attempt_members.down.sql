do $$
begin
    if exists (select from attempt_member where rank > 0) then
        raise exception 'attempts on several hosts have no place in this schema';
    end if;
end
$$;
alter table split rename column make_fence to make_token;
alter table dataset rename column check_fence to check_token;
alter table attempt rename constraint attempt_fence_check to attempt_token_check;
alter table attempt rename column fence to token;
alter table attempt
    add column host text references host,
    add column cores smallint[] check (cardinality(cores) >= 1),
    add column pid bigint,
    add column start_ticks bigint,
    add column frames_relayed bigint not null default 0 check (frames_relayed >= 0),
    add constraint attempt_check1 check ((pid is null) = (start_ticks is null));
update attempt
set host           = member.host,
    cores          = member.cores,
    pid            = member.pid,
    start_ticks    = member.start_ticks,
    frames_relayed = member.frames_relayed
from attempt_member as member
where member.job_id = attempt.job_id and member.attempt = attempt.attempt;
alter table attempt
    alter column host set not null,
    alter column cores set not null;
create index attempt_live_of_host on attempt (host) where ended_at is null;

create or replace function lease_guard() returns trigger language plpgsql as $$
begin
    if not exists (select from attempt
                   where job_id = new.job_id and attempt.attempt = new.attempt
                     and host = new.host and new.core = any (cores) and ended_at is null) then
        raise exception 'no live attempt % of % on core % of %',
            new.attempt, new.job_id, new.core, new.host;
    end if;
    return null;
end
$$;

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
drop table attempt_member;
