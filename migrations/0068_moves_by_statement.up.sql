-- A move of a job ran five functions of row triggers with some ten statements, and an attempt that
-- ends moved its job through up to two states that nobody had said: half of the database's work for
-- a job. What follows a move is written once for all jobs that a statement moves, and the update
-- that ends an attempt names the states between instead of an update each.

-- Null but after such a move. The guard takes what an update leaves as it was for not set.
alter table job add column passed text[]
    constraint job_passed_check check (passed <@ array['starting', 'compiling', 'running',
                                                       'finishing', 'preempting', 'pausing',
                                                       'cancelling']);

-- The table of moves and the final states as constants, for what asks at each move.
do $$
begin
    execute format('create function job_steps() returns text[] language sql immutable '
                   'return %L::text[]',
                   (select array_agg(from_state || ' ' || to_state order by from_state, to_state)
                    from job_transition));
    execute format('create function final_job_states() returns text[] language sql immutable '
                   'return %L::text[]',
                   (select array_agg(name order by name) from job_state where final));
end
$$;

create or replace function job_guard() returns trigger
    language plpgsql
as $$
declare
    here text := old.state;
    step text;
begin
    if new.event_seq < old.event_seq then
        raise exception 'event numbers of % cannot go back', old.id;
    end if;
    if (new.state, new.name, new.labels, new.queue_class)
        is distinct from (old.state, old.name, old.labels, old.queue_class) then
        new.version := old.version + 1;
    end if;
    if new.state = old.state then
        new.passed := old.passed;
        return new;
    end if;
    if new.passed is not distinct from old.passed then
        new.passed := null;
    end if;
    foreach step in array new.passed || new.state loop
        if not (here || ' ' || step) = any (job_steps()) then
            raise exception 'a job that is % cannot become %', here, step
                using errcode = 'SW001', detail = here, hint = step;
        end if;
        here := step;
        new.event_seq := new.event_seq + 1;
    end loop;
    if new.state = any (final_job_states()) then
        new.event_seq := new.event_seq + 1;
        new.finished_at := clock_timestamp();
    elsif new.state = 'starting' and new.started_at is null then
        new.started_at := clock_timestamp();
    end if;
    return new;
end
$$;

-- An update of anything else, as of the progress, cannot break what the guard keeps.
drop trigger job_guard on job;
create trigger job_guard before update on job
    for each row
    when (new.event_seq < old.event_seq or new.passed is distinct from old.passed
          or (new.state, new.name, new.labels, new.queue_class)
             is distinct from (old.state, old.name, old.labels, old.queue_class))
    execute function job_guard();

drop trigger job_follow on job;
drop trigger job_counted_move on job;
drop trigger webhook_note_move on job;
drop trigger checkpoint_release on job;

create function release_checkpoints(of_job text) returns void
    language plpgsql
as $$
declare
    used text;
begin
    for used in delete from checkpoint_use where job_id = of_job returning checkpoint_id loop
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
end
$$;

-- That a job holds cores exactly while it has a live attempt was asked four times for each job, at
-- the commit. It is asked once for the jobs of a statement, at its end; only who does not fit then,
-- because the other half of the change is another statement, is asked again at the commit. Empty
-- between transactions.
create table job_to_check (
    job_id       text not null,
    state_before text
);

create function job_checked() returns trigger
    language plpgsql
as $$
begin
    delete from job_to_check where job_id = new.job_id;
    perform require_fitting_attempt(new.job_id, new.state_before);
    return null;
end
$$;

create constraint trigger job_checked after insert on job_to_check
    deferrable initially deferred
    for each row execute function job_checked();

create function check_jobs(ids text[], states_before text[]) returns void
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

drop trigger job_fits_attempt on job;
drop trigger attempt_fits_job on attempt;
drop function job_fits_attempt;
drop function attempt_fits_job;

create function attempts_fit_jobs() returns trigger
    language plpgsql
as $$
declare
    ids text[] := (select array_agg(distinct job_id) from changed);
begin
    if ids is not null then
        perform check_jobs(ids, null);
    end if;
    return null;
end
$$;

create trigger attempts_begin after insert on attempt
    referencing new table as changed
    for each statement execute function attempts_fit_jobs();
create trigger attempts_change after update on attempt
    referencing new table as changed
    for each statement execute function attempts_fit_jobs();

-- The plans are kept, whatever the first statement of a session was: the outer join is made by
-- hashing, also where one row is expected, and tables are read by their indexes.
create function job_follow_moves() returns trigger
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
declare
    moved       text[];
    ended       text[];
    queued      text[];
    relisted    text[];
    projects    text[];
    crossing    text[];
    left_states text[];
    of_job      text;
begin
    with paired as materialized (
        select after.id, after.project, after.state, before.state as from_state,
               after.finished_at is not null as ends,
               (after.queue_class, after.name) is distinct from (before.queue_class, before.name)
                   as is_relisted,
               (before.finished_at is null and before.state not in ('queued', 'paused'))
               <> (after.finished_at is null and after.state not in ('queued', 'paused'))
                   as is_crossing
        from before
        full join after using (id)
    )
    select array_agg(id) filter (where state <> from_state),
           array_agg(id order by id) filter (where state <> from_state and ends),
           array_agg(id order by project, id)
               filter (where state <> from_state and state = 'queued'),
           array_agg(id) filter (where state = from_state and state = 'queued' and is_relisted),
           array_agg(distinct project) filter (where state <> from_state),
           array_agg(id) filter (where is_crossing),
           array_agg(from_state) filter (where is_crossing)
    into moved, ended, queued, relisted, projects, crossing, left_states
    from paired;
    if relisted is not null then
        update queue
        set class_rank = queue_class_rank(after.queue_class),
            name       = after.name
        from after
        where queue.job_id = any (relisted) and after.id = queue.job_id;
    end if;
    if crossing is not null then
        perform check_jobs(crossing, left_states);
    end if;
    if moved is null then
        return null;
    end if;
    with paired as materialized (
        select after.id, after.state, before.state as from_state, after.passed || after.state as path,
               after.event_seq, after.finished_at is not null as ends, after.attempts,
               after.restarts, after.project, after.created_by, after.queue_class,
               before.project as from_project, before.created_by as from_created_by,
               before.queue_class as from_queue_class,
               case when after.reason_code is not null
                    then json_build_object('code', after.reason_code,
                                           'message', after.reason_message) end as reason,
               after.state = 'starting' as starts,
               before.finished_at is null and after.finished_at is not null as ends_now,
               case when after.state = 'starting' and before.started_at is null
                    then extract(epoch from after.started_at - after.created_at) end as waited_s
        from before
        full join after using (id)
    ), moves as materialized (
        select *
        from paired
        where state <> from_state
    ), events as (
        insert into job_event (job_id, seq, type, body)
        select id, event_seq - ends::integer - cardinality(path) + place, 'state',
               json_build_object('state', step,
                                 'from', case when place = 1 then from_state
                                              else path[place - 1] end,
                                 'reason', case when place = cardinality(path) then reason end,
                                 'attempt', attempts, 'restarts', restarts)
        from moves
        cross join lateral unnest(path) with ordinality as steps (step, place)
        union all
        select id, event_seq, 'end', json_build_object('state', state, 'reason', reason)
        from moves
        where ends
    ), counts as (
        insert into job_count (state, project, created_by, queue_class, jobs, submitted, started,
                               ended, waited_s)
        select from_state, from_project,
               case when from_state = 'queued' then from_created_by else '' end,
               case when from_state = 'queued' then from_queue_class else '' end,
               -count(*), 0, 0, 0, null::double precision
        from moves
        group by 1, 2, 3, 4
        union all
        select state, project, case when state = 'queued' then created_by else '' end,
               case when state = 'queued' then queue_class else '' end,
               count(*), 0, count(*) filter (where starts), count(*) filter (where ends_now),
               max(waited_s)
        from moves
        -- Who starts for the first time has a row of its own, by which its wait is counted.
        group by 1, 2, 3, 4, case when waited_s is not null then id end
    )
    delete from queue
    using moves
    where moves.from_state = 'queued' and queue.job_id = moves.id;
    if queued is not null then
        -- Who has started once keeps its right to run: valid_until is over for it.
        insert into queue (job_id, project, name, class_rank, queued_at, cores, core_id,
                           not_before, valid_until, dataset_id, dataset_ready, memory_bytes,
                           group_name)
        select id, project, name, queue_class_rank(queue_class), created_at, cores, core_id,
               case when not_before > clock_timestamp() then not_before end,
               case when started_at is null then valid_until end, dataset_id,
               exists (select from dataset where id = after.dataset_id and state = 'ready'),
               counted_memory_bytes(spec), coalesce(spec #>> '{queue,group}', '')
        from after
        where id = any (queued);
        perform keep_group(project, spec #>> '{queue,group}',
                           (spec #>> '{queue,group_limit}')::integer, false)
        from (select *
              from after
              where id = any (queued) and spec #>> '{queue,group}' is not null
              order by project, spec #>> '{queue,group}', id) as grouped;
    end if;
    if exists (select from webhook where project = any (projects)) then
        perform (select count(webhook_note_job(it, from_state))
                 from (select it, before.state as from_state
                       from before
                       cross join lateral (select job as it
                                           from job
                                           where id = before.id
                                           offset 0) as found
                       where (it).state <> before.state
                       order by before.id) as moves);
    end if;
    for of_job in select distinct job_id
                  from checkpoint_use
                  where job_id = any (ended)
                  order by job_id loop
        perform release_checkpoints(of_job);
    end loop;
    return null;
end
$$;

create trigger job_follow_moves after update on job
    referencing old table as before new table as after
    for each statement
    execute function job_follow_moves();

drop function job_follow;
drop function webhook_note;
drop function checkpoint_release;

-- All leases of a statement are looked at together.
create or replace function lease_guard() returns trigger
    language plpgsql
    set enable_seqscan = off
    set enable_bitmapscan = off
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

drop trigger lease_guard on lease;
create trigger lease_guard after insert on lease
    referencing new table as added
    for each statement
    execute function lease_guard();

-- The live attempts by their own index, entry by entry: so entries of ended ones are marked dead on
-- the way and passed over by the next call. A bitmap scan would read all of them at each call.
create function live_attempts() returns setof attempt
    language plpgsql stable rows 100
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    return query
    select *
    from attempt
    where ended_at is null;
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
