drop table executor_user;
