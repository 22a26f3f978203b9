drop function ready_positions;
drop function ready_in_fair_order;
drop function ready_pools;

create function ready_in_fair_order(jobs_max bigint)
    returns table (job_id text, project text, class_rank smallint, used double precision,
                   queued_at timestamptz)
    language plpgsql stable
as $$
begin
    return query
    select head.job_id, standing.project, head.class_rank,
           (standing.used_core_s + 60 * head.cores_ahead) / standing.weight, head.queued_at
    from (select all_of_them.*,
                 least(jobs_max, greatest(50, 20000 / count(*) over ())) as jobs_read
          from project_standings() as all_of_them) as standing
    cross join lateral (
        select first.job_id, first.class_rank, first.queued_at,
               coalesce(sum(first.cores) over before_it, 0)::double precision as cores_ahead
        from (select queue.job_id, queue.class_rank, queue.queued_at, queue.cores
              from queue
              where ready and queue.project = standing.project
              order by queue.class_rank::integer, queue.queued_at, queue.job_id
              limit standing.jobs_read) as first
        window before_it as (order by first.class_rank, first.queued_at, first.job_id
                             rows between unbounded preceding and 1 preceding)
    ) as head;
end
$$;

create or replace function job_begins() returns trigger
    language plpgsql
as $$
declare
    bad_state   text;
    missing     text;
    bad_class   text[];
    has_groups  boolean;
    has_webhook boolean;
begin
    -- Whoever is about to delete a dataset waits for this transaction, or this one for it.
    with held as materialized (
        select id
        from dataset
        where id in (select dataset_id from added)
        order by id
        for key share
    )
    select min(added.state) filter (where added.state <> 'queued' or added.event_seq <> 1),
           min(added.dataset_id) filter (where added.dataset_id is not null and held.id is null),
           min(array[added.project, project.class_max, added.queue_class])
               filter (where queue_class_rank(added.queue_class)
                             < queue_class_rank(project.class_max)),
           coalesce(bool_or(added.spec #>> '{queue,group}' is not null), false),
           coalesce(bool_or(exists (select from webhook where webhook.project = added.project)),
                    false)
    into bad_state, missing, bad_class, has_groups, has_webhook
    from added
    left join held on held.id = added.dataset_id
    left join project on project.name = added.project;
    if bad_state is not null then
        raise exception 'a job begins queued with its first event, not %', bad_state
            using errcode = 'SW001', detail = '', hint = bad_state;
    end if;
    if missing is not null then
        raise exception 'there is no dataset % for a row of job', missing
            using errcode = 'foreign_key_violation', constraint = 'job_dataset_id_fkey';
    end if;
    if bad_class is not null then
        raise exception 'jobs of project % may be of class % at most, not %', bad_class[1],
                        bad_class[2], bad_class[3]
            using errcode = 'SW004', detail = bad_class[3], hint = bad_class[2];
    end if;
    with first_events as (
        insert into job_event (job_id, seq, type, body)
        select id, event_seq, 'state',
               json_build_object('state', state, 'from', null, 'reason', null,
                                 'attempt', attempts, 'restarts', restarts)
        from added
    ), counts as (
        insert into job_count (state, project, created_by, queue_class, jobs, submitted)
        select state, project, created_by, queue_class, count(*), count(*)
        from added
        group by state, project, created_by, queue_class
    )
    insert into queue (job_id, project, name, class_rank, queued_at, cores, core_id, not_before,
                       valid_until, dataset_id, dataset_ready, memory_bytes, group_name)
    select added.id, added.project, added.name, queue_class_rank(added.queue_class),
           added.created_at, added.cores, added.core_id,
           case when added.not_before > clock_timestamp() then added.not_before end,
           added.valid_until, added.dataset_id, coalesce(dataset.state = 'ready', false),
           case when added.spec #>> '{accelerator,memory_bytes}' is not null
                then counted_memory_bytes(added.spec) end,
           coalesce(added.spec #>> '{queue,group}', '')
    from added
    left join dataset on dataset.id = added.dataset_id;
    if has_groups then
        -- In one order, so that jobs stored by others at the same time wait for each other at most
        -- once.
        perform keep_group(project, group_name, group_limit, true)
        from (select project, spec #>> '{queue,group}' as group_name,
                     (spec #>> '{queue,group_limit}')::integer as group_limit
              from added
              where spec #>> '{queue,group}' is not null
              order by project, group_name, id) as grouped;
    end if;
    if has_webhook then
        perform webhook_note_job(added, null) from added order by id;
    end if;
    return null;
end
$$;

create or replace function job_follow_moves() returns trigger
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

drop index queue_ready_project;
drop index queue_ready_shape;
alter table queue drop column pool;
create index queue_ready_project
    on queue (project, (class_rank::integer), queued_at, job_id) where ready;
create index queue_ready_shape
    on queue (project, group_name, shape, (class_rank::integer), queued_at, job_id) where ready;
drop function pool_of;
drop table default_pool;
alter table host drop column pool;
