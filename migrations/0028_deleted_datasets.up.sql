-- A deleted dataset is gone at once, with its name. The jobs that ran on it and its splits, which may
-- be very many, lose it in batches afterwards: a foreign key's action over all of them is one
-- statement and runs into every limit of a statement's time.

create table deleted_dataset (
    id         text primary key,
    deleted_at timestamptz not null default clock_timestamp()
);

create index deleted_dataset_order on deleted_dataset (deleted_at, id);

create function dataset_leaves() returns trigger language plpgsql as $$
begin
    insert into deleted_dataset (id) values (old.id);
    return null;
end
$$;

create trigger dataset_leaves after delete on dataset
    for each row execute function dataset_leaves();

alter table job drop constraint job_dataset_id_fkey;
alter table split drop constraint split_dataset_id_fkey;

-- In the place of the two foreign keys: whoever inserts holds the dataset's row as they did, so that
-- it cannot be deleted meanwhile.
create function dataset_is_there() returns trigger language plpgsql as $$
begin
    perform from dataset where id = new.dataset_id for key share;
    if not found then
        raise exception 'there is no dataset % for a row of %', new.dataset_id, tg_table_name
            using errcode = 'foreign_key_violation',
                  constraint = tg_table_name || '_dataset_id_fkey';
    end if;
    return null;
end
$$;

create trigger job_of_dataset after insert on job
    for each row when (new.dataset_id is not null) execute function dataset_is_there();

create trigger job_to_dataset after update of dataset_id on job
    for each row when (new.dataset_id is distinct from old.dataset_id
                       and new.dataset_id is not null)
    execute function dataset_is_there();

create trigger split_of_dataset after insert or update of dataset_id on split
    for each row execute function dataset_is_there();

-- A batch begins where the one before it ended.
drop index job_dataset;
create index job_dataset on job (dataset_id, id);
