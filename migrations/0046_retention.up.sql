-- What ended jobs leave goes by policy (scheduler/store/retention.h). Jobs are taken in the order of
-- their ends; a mark for each kind says up to where. `pruned` tells on each job what is gone.
alter table job add column pruned text[] default '{}' not null
    constraint job_pruned_check check (pruned <@ array['events', 'logs', 'metrics']);
create index job_finished on job (finished_at, id) where finished_at is not null;

create table retention_mark (
    kind        text primary key check (kind in ('events', 'logs', 'metrics', 'checkpoints')),
    finished_at timestamptz default '-infinity' not null,
    job_id      text default '' not null
);
insert into retention_mark (kind) values ('events'), ('logs'), ('metrics'), ('checkpoints');

-- Events are append-only, but for those of a job that is gone and those that the policy has pruned.
-- States and the end stay as long as the job.
create or replace function job_event_guard() returns trigger
    language plpgsql
as $$
declare
    gone text[];
begin
    if tg_op = 'DELETE' then
        select pruned into gone from job where id = old.job_id;
        if not found
           or (old.type in ('log', 'warning') and 'logs' = any (gone))
           or (old.type not in ('log', 'warning', 'state', 'end') and 'events' = any (gone)) then
            return old;
        end if;
    end if;
    raise exception 'events are append-only';
end
$$;
