-- A deleted job is gone at once. Its events and points, which may be millions, go in batches
-- afterwards: a cascade over them runs into every limit of a statement's time.

create table deleted_job (
    id         text primary key,
    deleted_at timestamptz not null default clock_timestamp()
);

create index deleted_job_order on deleted_job (deleted_at, id);

create function job_leaves() returns trigger language plpgsql as $$
begin
    insert into deleted_job (id) values (old.id);
    return null;
end
$$;

create trigger job_leaves after delete on job
    for each row execute function job_leaves();

alter table job_event drop constraint job_event_job_id_fkey;
alter table metric_point drop constraint metric_point_job_id_fkey;

-- In the place of the two foreign keys, once for each statement instead of once for each row. Who
-- inserts holds the job's row, so that it cannot be deleted meanwhile.
create function job_is_there() returns trigger language plpgsql as $$
declare
    missing text;
begin
    select job_id into missing
    from (select distinct job_id from added) as named
    where not exists (select from job where id = named.job_id)
    limit 1;
    if found then
        raise exception 'there is no job % for a row of %', missing, tg_table_name
            using errcode = 'foreign_key_violation';
    end if;
    return null;
end
$$;

create trigger job_event_of_job after insert on job_event
    referencing new table as added
    for each statement execute function job_is_there();

create trigger metric_point_of_job after insert on metric_point
    referencing new table as added
    for each statement execute function job_is_there();

create or replace function job_event_guard() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and not exists (select from job where id = old.job_id) then
        return old;
    end if;
    raise exception 'events are append-only';
end
$$;
