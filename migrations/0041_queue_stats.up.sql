-- What the queue holds and how fast it moves, as sums of changes: neither costs more when more jobs
-- wait. A change of job_count also says of which class the queued job is, when it happened, and
-- whether a job was submitted, started or ended; fold_job_counts adds the latter up by 10 seconds.
truncate job_count;
alter table job_count
    add column queue_class text default '' not null,    -- of queued jobs
    add column at timestamptz default statement_timestamp() not null,
    add column submitted integer default 0 not null,
    add column started integer default 0 not null,
    add column ended integer default 0 not null,
    add column waited_s double precision;    -- of a first start
insert into job_count (state, project, created_by, queue_class, jobs)
select state, project, case when state = 'queued' then created_by else '' end,
       case when state = 'queued' then queue_class else '' end, count(*)
from job
group by 1, 2, 3, 4;

create table job_rate (
    at           timestamptz not null,    -- the beginning of 10 seconds
    project      text not null,
    submitted    bigint not null,
    started      bigint not null,
    ended        bigint not null,
    first_starts bigint not null,
    waited_s     double precision not null,    -- of first starts together
    waited_max_s double precision not null
);
create index job_rate_at on job_rate (at);

create or replace function job_counted() returns trigger language plpgsql as $$
declare
    leaves boolean := tg_op <> 'INSERT';
    enters boolean := tg_op <> 'DELETE';
    starts boolean := tg_op = 'UPDATE' and new.state = 'starting' and old.state <> 'starting';
begin
    if leaves then
        insert into job_count (state, project, created_by, queue_class, jobs)
        values (old.state, old.project,
                case when old.state = 'queued' then old.created_by else '' end,
                case when old.state = 'queued' then old.queue_class else '' end, -1);
    end if;
    if enters then
        insert into job_count (state, project, created_by, queue_class, jobs, submitted, started,
                               ended, waited_s)
        values (new.state, new.project,
                case when new.state = 'queued' then new.created_by else '' end,
                case when new.state = 'queued' then new.queue_class else '' end, 1,
                (not leaves)::integer, starts::integer,
                (leaves and old.finished_at is null and new.finished_at is not null)::integer,
                case when starts and old.started_at is null
                     then extract(epoch from new.started_at - new.created_at) end);
    end if;
    return null;
end
$$;
create trigger job_counted_class after update of queue_class on job
    for each row
    when (old.state = 'queued' and new.state = 'queued' and old.queue_class <> new.queue_class)
    execute function job_counted();

-- How many queued jobs are held, and by what: changes as well, only of jobs that are not ready.
create table queue_held_count (
    project    text not null,
    class_rank smallint not null,
    code       text not null check (code in ('start_after', 'waiting_for_dataset')),
    jobs       bigint not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
insert into queue_held_count (project, class_rank, code, jobs)
select project, class_rank,
       case when not_before is not null then 'start_after' else 'waiting_for_dataset' end, count(*)
from queue
where not ready
group by 1, 2, 3;

create function queue_held_counted() returns trigger language plpgsql as $$
begin
    if tg_op <> 'INSERT' and not old.ready then
        insert into queue_held_count (project, class_rank, code, jobs)
        values (old.project, old.class_rank,
                case when old.not_before is not null then 'start_after'
                     else 'waiting_for_dataset' end, -1);
    end if;
    if tg_op <> 'DELETE' and not new.ready then
        insert into queue_held_count (project, class_rank, code, jobs)
        values (new.project, new.class_rank,
                case when new.not_before is not null then 'start_after'
                     else 'waiting_for_dataset' end, 1);
    end if;
    return null;
end
$$;
create trigger queue_held_enters after insert on queue
    for each row when (not new.ready) execute function queue_held_counted();
create trigger queue_held_leaves after delete on queue
    for each row when (not old.ready) execute function queue_held_counted();
create trigger queue_held_changes after update on queue
    for each row
    when ((not old.ready or not new.ready)
          and (old.class_rank, old.not_before is null, old.ready)
              is distinct from (new.class_rank, new.not_before is null, new.ready))
    execute function queue_held_counted();
