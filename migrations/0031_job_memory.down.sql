alter table host
    drop column job_memory_bytes;
