drop table core_failure;
drop table core_drain;
drop index sweep_untidied;
alter table sweep drop column tidied;
