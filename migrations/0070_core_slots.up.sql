-- A lease was a row that came and went. While a transaction is held open nothing of it can be
-- cleaned away, and whoever asked for a core read over all leases that the core had had since: the
-- planner, the agent, and the primary key at each new one. Now each core of a host has one row for
-- ever, which says who holds it; its key ends with a number that grows when the core changes hands.
-- So the newest row is the first one from the end of its key, whatever has died before it.
create table core_slot (
    host       text not null references host on delete cascade,
    core       smallint not null check (core >= 1),
    turn       bigint not null default 0,
    job_id     text,
    attempt    integer,
    leased_at  timestamptz,
    expires_at timestamptz,
    primary key (host, core, turn),
    foreign key (job_id, attempt) references attempt,
    constraint core_slot_held check (num_nulls(job_id, attempt, leased_at, expires_at) in (0, 4))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 50);

insert into core_slot (host, core, job_id, attempt, leased_at, expires_at)
select coalesce(lease.host, every.host), coalesce(lease.core, every.core), job_id, attempt,
       leased_at, expires_at
from (select name as host, number as core
      from host
      cross join generate_series(1, cores) as number) as every
full join lease using (host, core);

create index core_slot_held_by on core_slot (job_id, attempt) where job_id is not null;

drop table lease;
drop function lease_guard;

-- A core has one row: nobody adds a second one, and no row becomes that of another core. Only what
-- is free can be taken, and only by a live attempt whose member has the core.
create function core_slots_added() returns trigger
    language plpgsql
as $$
declare
    doubled record;
begin
    -- Two that add rows of one host at the same time look one after the other.
    perform from host where name in (select host from added) order by name for no key update;
    select host, core into doubled
    from core_slot
    where host in (select host from added)
    group by host, core
    having count(*) > 1
    limit 1;
    if found then
        raise exception 'core % of % has a row already', doubled.core, doubled.host
            using errcode = 'unique_violation';
    end if;
    return null;
end
$$;

create trigger core_slots_added after insert on core_slot
    referencing new table as added
    for each statement
    execute function core_slots_added();

create function core_slots_taken() returns trigger
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    bad record;
begin
    if not exists (select from after where job_id is not null) then
        return null;
    end if;
    -- An outer join can only be hashed: a plan that is kept is good for any number of cores.
    with paired as materialized (
        select host, core, before.job_id as held_by, after.job_id, after.attempt
        from before
        full join after using (host, core)
        where after.job_id is not null
          and (before.job_id, before.attempt) is distinct from (after.job_id, after.attempt)
    )
    select * into bad
    from paired
    where held_by is not null
       or not exists (select from attempt_member as member
                      join attempt using (job_id, attempt)
                      where member.job_id = paired.job_id and member.attempt = paired.attempt
                        and member.host = paired.host and paired.core = any (member.cores)
                        and ended_at is null
                      offset 0)
    limit 1;
    if found and bad.held_by is not null then
        raise exception 'core % of % is leased by %', bad.core, bad.host, bad.held_by
            using errcode = 'unique_violation';
    elsif found then
        raise exception 'no live attempt % of % on core % of %',
            bad.attempt, bad.job_id, bad.core, bad.host;
    end if;
    return null;
end
$$;

-- What the view `lease` stores is looked at when its statement ends (lease_guard).
create trigger core_slots_taken after update on core_slot
    referencing old table as before new table as after
    for each statement
    when (pg_trigger_depth() = 0)
    execute function core_slots_taken();

create function core_slot_stays() returns trigger
    language plpgsql
as $$
begin
    raise exception 'the row of core % of % cannot become that of another core', old.core, old.host;
end
$$;

create trigger core_slot_stays before update of host, core on core_slot
    for each row
    when (new.host <> old.host or new.core <> old.core)
    execute function core_slot_stays();

-- A host has rows for all cores that it has ever had.
create function host_has_slots() returns trigger
    language plpgsql
as $$
begin
    insert into core_slot (host, core)
    select new.name, number
    from generate_series(1, new.cores) as number
    where not exists (select from core_slot where host = new.name and core = number);
    return null;
end
$$;

create trigger host_has_slots after insert or update of cores on host
    for each row
    execute function host_has_slots();

-- Fails when a statement has got fewer cores than it wanted: somebody else was faster.
create function has_leased(got bigint, wanted bigint) returns boolean
    language plpgsql
as $$
begin
    if got <> wanted then
        raise exception '% of % cores are leased', wanted - got, wanted
            using errcode = 'unique_violation';
    end if;
    return true;
end
$$;

-- The newest row of each core of a host, or of all hosts; by the end of the key whatever the plan
-- has assumed of the number of rows.
create function newest_slots(of_host text default null) returns setof core_slot
    language plpgsql stable rows 100
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
as $$
begin
    return query
    select slot.*
    from (select name, (select max(core) from core_slot where host = name) as cores
          from host
          where of_host is null or name = of_host
          offset 0) as known
    cross join lateral generate_series(1, known.cores::integer) as number
    cross join lateral (select *
                        from core_slot
                        where host = known.name and core = number
                        order by turn desc
                        limit 1) as slot;
end
$$;

-- The same of these cores.
create function newest_slots(hosts text[], cores smallint[]) returns setof core_slot
    language plpgsql stable rows 100
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
as $$
begin
    return query
    select slot.*
    from unnest(hosts, cores) as asked (of_host, number)
    cross join lateral (select *
                        from core_slot
                        where host = asked.of_host and core = asked.number
                        order by turn desc
                        limit 1) as slot;
end
$$;

-- Of these attempts the live ones; null: all, by their own index.
create function live_attempts(ids text[], numbers integer[]) returns setof attempt
    language plpgsql stable rows 100
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    if ids is null then
        return query select * from live_attempts();
        return;
    end if;
    return query
    select found.*
    from (select distinct id, number from unnest(ids, numbers) as asked (id, number)) as asked
    cross join lateral (select *
                        from attempt
                        where job_id = asked.id and attempt = asked.number and ended_at is null
                        offset 0) as found;
end
$$;

-- What projects are entitled to and have used: of these, or of all that have ready jobs; who holds
-- cores as of live_attempts(ids, numbers).
create function standings_of(projects text[], also text, ids text[], numbers integer[])
    returns table (
        project     text,
        weight      double precision,
        used_core_s double precision
    )
    language plpgsql stable
as $$
begin
    if projects is null then
        projects := array(
            with recursive present (name) as (
                (select queue.project from queue where ready order by queue.project limit 1)
                union all
                select (select queue.project
                        from queue
                        where ready and queue.project > present.name
                        order by queue.project
                        limit 1)
                from present
                where present.name is not null
            )
            select name from present where name is not null);
    end if;
    return query
    with wanted as (
        select unnest(projects) as name
        union
        select also where also is not null
    ), ended as (
        select project_usage.project as name, sum(decayed_usage(core_seconds, at)) as core_seconds
        from project_usage
        group by project_usage.project
    ), running as (
        select job.project as name,
               sum(job.cores * extract(epoch from statement_timestamp() - attempt.created_at))
                   ::double precision as core_seconds
        from live_attempts(ids, numbers) as attempt
        cross join lateral (select job.project, job.cores
                            from job
                            where job.id = attempt.job_id
                            offset 0) as job
        group by job.project
    )
    select wanted.name, coalesce(known.weight, 1),
           coalesce(ended.core_seconds, 0) + coalesce(running.core_seconds, 0)
    from wanted
    left join project as known using (name)
    left join ended using (name)
    left join running using (name);
end
$$;

create or replace function project_standings(also text default null) returns table (
        project     text,
        weight      double precision,
        used_core_s double precision
    )
    language plpgsql stable
as $$
begin
    return query select * from standings_of(null, also, null, null);
end
$$;

-- Leases as they were, for people and for programs that know no slots.
create view lease as
select host, core, job_id, attempt, leased_at, expires_at
from core_slot
where job_id is not null;

create function lease_begins() returns trigger
    language plpgsql
as $$
begin
    update core_slot
    set turn       = turn + 1,
        job_id     = new.job_id,
        attempt    = new.attempt,
        leased_at  = coalesce(new.leased_at, clock_timestamp()),
        expires_at = new.expires_at
    where host = new.host and core = new.core and job_id is null;
    if not found then
        raise exception 'core % of % is not free', new.core, new.host
            using errcode = 'unique_violation';
    end if;
    return new;
end
$$;

create trigger lease_begins instead of insert on lease
    for each row
    execute function lease_begins();

-- A program that knows no slots makes the attempt and its leases in one statement, at whose end both
-- are there.
create function lease_guard() returns trigger
    language plpgsql
as $$
declare
    bad record;
begin
    select * into bad
    from newest_slots() as slot
    where job_id is not null
      and not exists (select from attempt_member as member
                      join attempt using (job_id, attempt)
                      where member.job_id = slot.job_id and member.attempt = slot.attempt
                        and member.host = slot.host and slot.core = any (member.cores)
                        and ended_at is null
                      offset 0)
    limit 1;
    if found then
        raise exception 'no live attempt % of % on core % of %',
            bad.attempt, bad.job_id, bad.core, bad.host;
    end if;
    return null;
end
$$;

create trigger lease_guard after insert on lease
    for each statement
    execute function lease_guard();

create function lease_ends() returns trigger
    language plpgsql
as $$
begin
    update core_slot
    set turn       = turn + 1,
        job_id     = null,
        attempt    = null,
        leased_at  = null,
        expires_at = null
    where host = old.host and core = old.core and job_id = old.job_id and attempt = old.attempt;
    return old;
end
$$;

create trigger lease_ends instead of delete on lease
    for each row
    execute function lease_ends();

-- Attempts by their job, whatever the plan has assumed of how many there are: it read all that were
-- live since the last vacuum, at each statement that moves jobs.
create or replace function check_jobs(ids text[], states_before text[]) returns void
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    insert into job_to_check (job_id, state_before)
    select asked.id, asked.state_before
    from unnest(ids, states_before) as asked (id, state_before)
    cross join lateral (select state
                        from job
                        where id = asked.id
                        offset 0) as job
    where (job.state <> all (final_job_states()) and job.state not in ('queued', 'paused'))
          <> exists (select from attempt where job_id = asked.id and ended_at is null offset 0);
end
$$;
