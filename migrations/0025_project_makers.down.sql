drop index executor_user_maker;
alter table executor_user drop column created_by;
