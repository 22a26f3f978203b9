drop trigger job_class_allowed_change on job;
drop trigger job_class_allowed on job;
drop function job_class_allowed;
alter table project
    drop constraint project_class_max_check,
    drop column class_max;
