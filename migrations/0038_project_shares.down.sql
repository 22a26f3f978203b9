create index queue_ready on queue (shape, class_rank, queued_at, job_id) where ready;
drop index queue_ready_project;
drop index queue_ready_shape;
drop function time_left_s;
drop function queue_pages;
drop function ready_in_fair_order;
drop function project_standings;
drop function decayed_usage;
drop table project_usage;
alter table project
    drop column cores_max,
    drop column weight,
    drop column created_at;
alter index project_maker rename to executor_user_maker;
alter table project rename constraint project_name_check to executor_user_project_check;
alter table project rename constraint project_number_check to executor_user_number_check;
alter table project rename constraint project_number_key to executor_user_number_key;
alter table project rename constraint project_pkey to executor_user_pkey;
alter table project rename column name to project;
alter table project rename to executor_user;
