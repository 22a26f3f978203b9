-- A member's token would have the rights of its own row: it ends.
update token
set revoked_at = coalesce(revoked_at, clock_timestamp())
where member is not null;
drop view token_grant;
drop function role_rank(text);
alter table token drop column member;
drop table membership;
drop table member;
