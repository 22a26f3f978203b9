-- An attempt has members: one process on each of its hosts, numbered by rank from 0. What belongs to
-- a process moves from the attempt to its member; the member of rank 0 relays the frames. What
-- fences an attempt, and the check of a dataset or the making of a split, is called its fence.
create table attempt_member (
    job_id         text not null,
    attempt        integer not null,
    rank           smallint not null check (rank >= 0),
    host           text not null references host,
    cores          smallint[] not null check (cardinality(cores) >= 1),
    pid            bigint,
    start_ticks    bigint,
    frames_relayed bigint not null default 0 check (frames_relayed >= 0),
    primary key (job_id, attempt, rank),
    unique (job_id, attempt, host),
    foreign key (job_id, attempt) references attempt on delete cascade,
    check ((pid is null) = (start_ticks is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

insert into attempt_member (job_id, attempt, rank, host, cores, pid, start_ticks, frames_relayed)
select job_id, attempt, 0, host, cores, pid, start_ticks, frames_relayed
from attempt;

create or replace function lease_guard() returns trigger language plpgsql as $$
begin
    if not exists (select from attempt_member as member
                   join attempt using (job_id, attempt)
                   where member.job_id = new.job_id and member.attempt = new.attempt
                     and member.host = new.host and new.core = any (member.cores)
                     and ended_at is null) then
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
        with pruned as (
            update checkpoint
            set deleted_at = clock_timestamp()
            where id = used and unwanted and not pinned and deleted_at is null
              and not exists (select from checkpoint_use where checkpoint_id = used)
            returning job_id, attempt, name
        )
        insert into garbage (path, host)
        select 'checkpoints/' || job_id || '/' || name, member.host
        from pruned
        join attempt_member as member using (job_id, attempt)
        where member.rank = 0;
    end loop;
    return null;
end
$$;

-- The live attempts of a host are those of its leases.
drop index attempt_live_of_host;
alter table attempt
    drop column host,
    drop column cores,
    drop column pid,
    drop column start_ticks,
    drop column frames_relayed;
alter table attempt rename column token to fence;
alter table attempt rename constraint attempt_token_check to attempt_fence_check;
alter table dataset rename column check_token to check_fence;
alter table split rename column make_token to make_fence;
