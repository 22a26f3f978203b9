-- Who works in a project, and as what. A token may be one of a member's: then it may do in a project
-- what its member may there, and no more. A token of nobody has the rights in its own row, as before.
create table member (
    name       text primary key
        constraint member_name_check check (name ~ '^[a-z0-9][a-z0-9._@-]{0,63}$'),
    created_by text not null,
    created_at timestamptz not null default clock_timestamp()
);

create table membership (
    project    text not null references project (name),
    member     text not null references member (name),
    role       text not null
        constraint membership_role_check check (role in ('viewer', 'editor', 'admin')),
    changed_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    changed_at timestamptz not null default clock_timestamp(),
    primary key (project, member)
);
create index membership_of_member on membership (member, project);

alter table token add column member text references member (name);
create index token_of_member on token (member) where member is not null;

create function role_rank(role text) returns smallint
    language sql immutable strict parallel safe
    return array_position(array['viewer', 'editor', 'admin'], role)::smallint;

-- What the tokens that are good may do, by project; a null project means every one. The one place
-- where a token's own rights and those of its member meet.
create view token_grant as
select token.id as token_id, granted.project, granted.role
from token
cross join lateral (
    select null::text as project, token.role
    where token.member is null and cardinality(token.projects) = 0
    union all
    select listed.project, token.role
    from unnest(token.projects) as listed (project)
    where token.member is null
    union all
    select membership.project,
           case when role_rank(membership.role) < role_rank(token.role)
                then membership.role else token.role end
    from membership
    where membership.member = token.member
      and (cardinality(token.projects) = 0 or membership.project = any (token.projects))
) as granted
where token.revoked_at is null
  and (token.expires_at is null or token.expires_at > clock_timestamp());
