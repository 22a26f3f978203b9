-- Groups of jobs of a project (a sweep is one), of which so many may run at a time. The limit is the
-- group's and can be changed while its jobs wait; a job that names one sets it when it is submitted.
create table job_group (
    project    text not null,
    name       text not null check (name <> ''),
    jobs_max   integer check (jobs_max >= 1),    -- null: no limit
    changed_at timestamptz default clock_timestamp() not null,
    primary key (project, name)
);

-- A job of the group is queued. The newest submission that names a limit sets it; a job that comes
-- back restores what has been forgotten. When all is so already and was so lately, nothing is
-- written and no row is locked. A pass of the scheduler looks at each group, so that a project has
-- 200 at most; those that have been without queued jobs for an hour make way.
create function keep_group(of_project text, of_name text, wanted integer, replaces boolean)
    returns void
    language plpgsql as $$
begin
    if exists (select from job_group
               where project = of_project and name = of_name
                 and (wanted is null or jobs_max = wanted or not replaces)
                 and changed_at > clock_timestamp() - interval '30 minutes') then
        return;
    end if;
    if (select count(*) from job_group where project = of_project) >= 200
       and not exists (select from job_group where project = of_project and name = of_name) then
        delete from job_group
        where project = of_project and changed_at < clock_timestamp() - interval '1 hour'
          and not exists (select from queue
                          where queue.project = of_project and group_name = job_group.name);
        if replaces and (select count(*) from job_group where project = of_project) >= 200 then
            raise exception 'project % has 200 groups, the maximum; use one of them, or wait until '
                            'one has been without queued jobs for an hour', of_project
                using errcode = 'SW003';
        end if;
    end if;
    insert into job_group (project, name, jobs_max)
    values (of_project, of_name, wanted)
    on conflict (project, name) do update
    set jobs_max   = case when replaces then coalesce(excluded.jobs_max, job_group.jobs_max)
                          else job_group.jobs_max end,
        changed_at = clock_timestamp();
end
$$;

-- Jobs of a group are a shape of their own: however many of them wait for their group, the others
-- are found. '' is no group.
alter table queue add column group_name text default '' not null;
drop index queue_ready_shape;
create index queue_ready_shape
    on queue (project, group_name, shape, (class_rank::integer), queued_at, job_id) where ready;

create or replace function job_begins() returns trigger
    language plpgsql
as $$
declare
    missing text;
begin
    -- Whoever is about to delete the dataset waits for this transaction, or this one for it.
    perform from dataset where id in (select dataset_id from added) order by id for key share;
    select dataset_id into missing
    from added
    where dataset_id is not null
      and not exists (select from dataset where dataset.id = added.dataset_id)
    limit 1;
    if found then
        raise exception 'there is no dataset % for a row of job', missing
            using errcode = 'foreign_key_violation', constraint = 'job_dataset_id_fkey';
    end if;
    insert into job_event (job_id, seq, type, body)
    select id, event_seq, 'state',
           json_build_object('state', state, 'from', null, 'reason', null, 'attempt', attempts,
                             'restarts', restarts)
    from added;
    insert into queue (job_id, project, name, class_rank, queued_at, cores, core_id, not_before,
                       valid_until, dataset_id, dataset_ready, memory_bytes, group_name)
    select added.id, added.project, added.name, queue_class_rank(added.queue_class),
           added.created_at, added.cores, added.core_id,
           case when added.not_before > clock_timestamp() then added.not_before end,
           added.valid_until, added.dataset_id, coalesce(dataset.state = 'ready', false),
           counted_memory_bytes(added.spec), coalesce(added.spec #>> '{queue,group}', '')
    from added
    left join dataset on dataset.id = added.dataset_id;
    -- In one order, so that jobs stored by others at the same time wait for each other at most once.
    perform keep_group(project, group_name, group_limit, true)
    from (select project, spec #>> '{queue,group}' as group_name,
                 (spec #>> '{queue,group_limit}')::integer as group_limit
          from added
          where spec #>> '{queue,group}' is not null
          order by project, group_name, id) as grouped;
    insert into job_count (state, project, created_by, queue_class, jobs, submitted)
    select state, project, created_by, queue_class, count(*), count(*)
    from added
    group by state, project, created_by, queue_class;
    return null;
end
$$;

create or replace function job_follow() returns trigger language plpgsql as $$
declare
    ends   boolean := new.finished_at is not null;
    reason json := null;
begin
    if tg_op = 'UPDATE' and new.state = old.state then
        if new.state = 'queued'
           and (new.queue_class, new.name) is distinct from (old.queue_class, old.name) then
            update queue
            set class_rank = queue_class_rank(new.queue_class),
                name       = new.name
            where job_id = new.id;
        end if;
        return null;
    end if;
    if new.reason_code is not null then
        reason := json_build_object('code', new.reason_code, 'message', new.reason_message);
    end if;
    insert into job_event (job_id, seq, type, body)
    values (new.id, new.event_seq - ends::integer, 'state',
            json_build_object('state', new.state,
                              'from', case when tg_op = 'UPDATE' then old.state end,
                              'reason', reason, 'attempt', new.attempts,
                              'restarts', new.restarts));
    if ends then
        insert into job_event (job_id, seq, type, body)
        values (new.id, new.event_seq, 'end',
                json_build_object('state', new.state, 'reason', reason));
    end if;
    if new.state = 'queued' then
        -- Who has started once keeps its right to run: valid_until is over for it.
        insert into queue (job_id, project, name, class_rank, queued_at, cores, core_id,
                           not_before, valid_until, dataset_id, dataset_ready, memory_bytes,
                           group_name)
        values (new.id, new.project, new.name, queue_class_rank(new.queue_class), new.created_at,
                new.cores, new.core_id,
                case when new.not_before > clock_timestamp() then new.not_before end,
                case when new.started_at is null then new.valid_until end, new.dataset_id,
                exists (select from dataset where id = new.dataset_id and state = 'ready'),
                counted_memory_bytes(new.spec), coalesce(new.spec #>> '{queue,group}', ''));
        if new.spec #>> '{queue,group}' is not null then
            perform keep_group(new.project, new.spec #>> '{queue,group}',
                               (new.spec #>> '{queue,group_limit}')::integer, false);
        end if;
    elsif tg_op = 'UPDATE' and old.state = 'queued' then
        delete from queue where job_id = new.id;
    end if;
    return null;
end
$$;
