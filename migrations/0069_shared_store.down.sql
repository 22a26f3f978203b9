drop table host_store_mark;
drop table shared_store;
