-- The token from which a token descends that nobody has made: what one has made is counted with what
-- those have made, however deep.
alter table token add column root text;
with recursive descent as (
    select id, id as root
    from token
    where not exists (select from token as maker where maker.id = token.created_by)
    union
    select token.id, descent.root
    from token
    join descent on token.created_by = descent.id
)
update token
set root = descent.root
from descent
where token.id = descent.id;
alter table token alter column root set not null;

drop index token_maker;
create index token_made on token (root) where revoked_at is null;
create index token_maker on token (created_by);
