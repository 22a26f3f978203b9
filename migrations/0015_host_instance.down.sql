alter table host drop column home;
alter table host drop column instance;
