-- What follows the insertion of jobs was done for each row: four statements and their triggers a
-- job. Jobs that are stored together (scheduler/store/pg/group_commit.h) share them now.
create function job_begins() returns trigger
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
                       valid_until, dataset_id, dataset_ready, memory_bytes)
    select added.id, added.project, added.name, queue_class_rank(added.queue_class),
           added.created_at, added.cores, added.core_id,
           case when added.not_before > clock_timestamp() then added.not_before end,
           added.valid_until, added.dataset_id, coalesce(dataset.state = 'ready', false),
           counted_memory_bytes(added.spec)
    from added
    left join dataset on dataset.id = added.dataset_id;
    insert into job_count (state, project, created_by, queue_class, jobs, submitted)
    select state, project, created_by, queue_class, count(*), count(*)
    from added
    group by state, project, created_by, queue_class;
    return null;
end
$$;

create trigger job_begins after insert on job referencing new table as added
    for each statement execute function job_begins();

drop trigger job_of_dataset on job;
drop trigger job_follow on job;
create trigger job_follow after update on job
    for each row execute function job_follow();
drop trigger job_counted on job;
create trigger job_counted after delete on job
    for each row execute function job_counted();
