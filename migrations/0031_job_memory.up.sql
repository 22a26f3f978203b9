-- The memory that a machine gives to all its jobs together, so that placement can keep the sum of
-- their limits below it. 0: no limit, or not said yet.
alter table host
    add column job_memory_bytes bigint not null default 0 check (job_memory_bytes >= 0);
