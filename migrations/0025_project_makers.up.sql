-- Which token has brought a project into being: numbers are for good, so that no project ever gets
-- files of another one, and one token must not take all of them.
alter table executor_user add column created_by text not null default '';
create index executor_user_maker on executor_user (created_by) where created_by <> '';
