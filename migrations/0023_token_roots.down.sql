drop index token_maker;
drop index token_made;
create index token_maker on token (created_by) where revoked_at is null;

alter table token drop column root;
