drop table pool_time_limit;
