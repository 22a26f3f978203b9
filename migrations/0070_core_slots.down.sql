create or replace function project_standings(also text default null) returns table (
        project     text,
        weight      double precision,
        used_core_s double precision
    )
    language plpgsql stable
as $$
begin
    return query
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
    ), wanted as (
        select name from present where name is not null
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
        from live_attempts() as attempt
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

drop function standings_of;

alter table core_slot rename to held;
drop view lease;
drop function lease_guard;
create table lease (
    host       text not null references host,
    core       smallint not null check (core >= 1),
    job_id     text not null,
    attempt    integer not null,
    leased_at  timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null,
    primary key (host, core),
    foreign key (job_id, attempt) references attempt on delete cascade
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_threshold = 50);

insert into lease (host, core, job_id, attempt, leased_at, expires_at)
select host, core, job_id, attempt, leased_at, expires_at
from held
where job_id is not null;

create index lease_attempt on lease (job_id, attempt);

create function lease_guard() returns trigger
    language plpgsql
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
as $$
declare
    bad record;
begin
    select * into bad
    from added
    where not exists (select from attempt_member as member
                      join attempt using (job_id, attempt)
                      where member.job_id = added.job_id and member.attempt = added.attempt
                        and member.host = added.host and added.core = any (member.cores)
                        and ended_at is null)
    limit 1;
    if found then
        raise exception 'no live attempt % of % on core % of %',
            bad.attempt, bad.job_id, bad.core, bad.host;
    end if;
    return null;
end
$$;

create trigger lease_guard after insert on lease
    referencing new table as added
    for each statement
    execute function lease_guard();

drop trigger host_has_slots on host;
drop function live_attempts(text[], integer[]);
drop function newest_slots(text[], smallint[]);
drop function newest_slots(text);
drop table held;
drop function has_leased;
drop function host_has_slots;
drop function lease_ends;
drop function lease_begins;
drop function core_slots_taken;
drop function core_slot_stays;
drop function core_slots_added;

create or replace function check_jobs(ids text[], states_before text[]) returns void
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    insert into job_to_check (job_id, state_before)
    select asked.id, asked.state_before
    from unnest(ids, states_before) as asked (id, state_before)
    join job on job.id = asked.id
    where (job.state <> all (final_job_states()) and job.state not in ('queued', 'paused'))
          <> exists (select from attempt where job_id = asked.id and ended_at is null);
end
$$;
