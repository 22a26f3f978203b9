-- How the last attempt vanished, and how often in a row: the same crash at the same step is no
-- accident.
alter table job
    add column crash_key text,
    add column crashes   integer default 0 not null,
    add constraint job_crashes_check check (crashes >= 0);
