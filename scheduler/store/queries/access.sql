-- lock_tokens: one at a time makes or revokes tokens, so that none is made by a token that is being
-- revoked with those it made
-- locks  until the transaction ends
select pg_advisory_xact_lock(hashtextextended('slipway tokens', 0))

-- count_made_tokens: those that descend from the same first token as a maker and are valid
-- in     $1 created_by
select count(*) as tokens
from token
where root = (select root from token where id = $1) and id <> root and revoked_at is null
  and (expires_at is null or expires_at > clock_timestamp())

-- insert_token: a new token's row
-- in     $1 id  $2 name  $3 lookup  $4 sha256  $5 role  $6 projects text[]  $7 created_by
--        $8 expires_at  $9 member or null
-- out    changed: 0 when the token that makes it is no longer good
-- errors unique violation when the lookup part exists
insert into token (id, name, lookup, sha256, role, projects, created_by, expires_at, root, member)
select $1, $2, $3, $4, $5, $6::text[], $7, $8::timestamptz,
       coalesce((select root from token where id = $7), $1), $9
where not exists (select from token
                  where id = $7
                    and (revoked_at is not null or expires_at <= clock_timestamp()))

-- find_token_row: PostgreSQL would plan one statement with both conditions at each call
-- form find_token
--   @CONDITION@ id = $1
-- form find_token_by_lookup
--   @CONDITION@ lookup = $1
-- out    granted_projects, granted_roles: what it may, row by row; '': in every project
select id, name, lookup, sha256, role, projects, member, created_by, created_at, expires_at,
       last_used_at, revoked_at,
       revoked_at is null and (expires_at is null or expires_at > clock_timestamp()) as usable,
       granted_projects, granted_roles
from token
cross join lateral (
    select array_agg(coalesce(project, '') order by project) as granted_projects,
           array_agg(token_grant.role order by project) as granted_roles
    from token_grant
    where token_grant.token_id = token.id
) as granted
where @CONDITION@

-- list_tokens: a page, newest first
-- in     $1 id to begin after  $2 limit  $3 projects text[]: only tokens that are bound to some of
--        them and to no other; null: all
select id, name, lookup, sha256, role, projects, member, created_by, created_at, expires_at,
       last_used_at, revoked_at,
       revoked_at is null and (expires_at is null or expires_at > clock_timestamp()) as usable
from token
where ($1::text is null or id < $1)
  and ($3::text[] is null or (cardinality(projects) > 0 and projects <@ $3))
order by id desc
limit $2

-- revoke_token: with the tokens that it made, those that they made, and the sessions and tickets of all
-- in     $1 id  $2 whether the tokens that it made stay
-- out    changed: 0 when there is none
with recursive ended as (
    select id
    from token
    where id = $1
    union
    select token.id
    from token
    join ended on token.created_by = ended.id
    where not $2::boolean
), sessions as (
    delete from session
    where token_id in (select id from ended)
), tickets as (
    delete from login_ticket
    where token_id in (select id from ended)
)
update token
set revoked_at = coalesce(revoked_at, clock_timestamp())
where id in (select id from ended)

-- touch_token: note the use, at most once a minute
-- in     $1 id
update token
set last_used_at = clock_timestamp()
where id = $1
  and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')

-- insert_login_ticket: a one-time link; of its token the 20 that are good for longest are kept
-- in     $1 sha256  $2 token_id  $3 keep in seconds
with surplus as (
    delete from login_ticket
    where sha256 = any (array(
        select sha256
        from login_ticket
        where token_id = $2
        order by expires_at desc
        offset 19
    ))
)
insert into login_ticket (sha256, token_id, expires_at)
values ($1, $2, clock_timestamp() + make_interval(secs => $3))

-- use_login_ticket: at most one caller gets the row
-- in     $1 sha256
-- out    token_id; no row when unknown, used or too old
with used as (
    delete from login_ticket
    where sha256 = $1
    returning token_id, expires_at
)
select token_id
from used
where expires_at > clock_timestamp()

-- insert_session: a browser's cookie; of its token the newest 20 are kept
-- in     $1 sha256  $2 token_id  $3 keep in seconds
with surplus as (
    delete from session
    where sha256 = any (array(
        select sha256
        from session
        where token_id = $2
        order by created_at desc
        offset 19
    ))
)
insert into session (sha256, token_id, expires_at)
values ($1, $2, clock_timestamp() + make_interval(secs => $3))

-- find_session: its token's id
-- in     $1 sha256
select token_id
from session
where sha256 = $1 and expires_at > clock_timestamp()

-- end_session: the cookie is no longer valid
-- in     $1 sha256
delete from session
where sha256 = $1

-- append_audit: who did what
-- in     $1 token_id  $2 action  $3 object  $4 request_id  $5 detail
insert into audit (token_id, action, object, request_id, detail)
values ($1, $2, $3, $4, $5::json)

-- list_audit: a page, newest first
-- in     $1 id to begin after or null  $2 token_id, $3 action, $4 object: null = any  $5 limit
select id, at, token_id, action, object, request_id, detail
from audit
where ($1::bigint is null or id < $1)
  and ($2::text is null or token_id = $2)
  and ($3::text is null or action = $3)
  and ($4::text is null or object = $4)
order by id desc
limit $5
