alter table job
    drop column saves_requested,
    drop column continues_from,
    drop column origin_job_id,
    drop column origin_action;
