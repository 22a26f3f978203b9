-- Checkpoints of a deleted job go in batches as its events and points do. Who stores one holds the
-- job's row, so that it cannot be deleted meanwhile.
alter table checkpoint drop constraint checkpoint_job_id_attempt_fkey;

create trigger checkpoint_of_job after insert on checkpoint
    referencing new table as added
    for each statement execute function job_is_there();
