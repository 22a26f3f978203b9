-- Removed hosts would come back; they stay drained.
drop table host_join_token;
drop index host_removed;
alter table host
    drop constraint host_removed_is_drained,
    drop column removed_at,
    drop column removed_by;
