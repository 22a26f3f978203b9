alter table job
    drop column crashes,
    drop column crash_key;
