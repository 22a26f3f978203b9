drop index sweep_untidied;
alter table sweep drop column tidied;
