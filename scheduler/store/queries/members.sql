-- Members of projects, and what tokens may do because of them (scheduler/store/members.h, rights.h).

-- list_lost_rights: those of a list that a token does not, or no longer, have
-- in     $1 token_ids text[]  $2 projects text[]; '': in some project  $3 roles text[]
select distinct asked.token_id, asked.project, asked.role
from unnest($1::text[], $2::text[], $3::text[]) as asked (token_id, project, role)
where not exists (select from token_grant
                  where token_grant.token_id = asked.token_id
                    and (asked.project = '' or token_grant.project is null
                         or token_grant.project = asked.project)
                    and role_rank(token_grant.role) >= role_rank(asked.role))

-- list_token_projects: what those of a list that are good may see
-- in     $1 ids text[]
-- out    projects in the order of find_token; '': every one
select token_id, array_agg(coalesce(project, '') order by project) as projects
from token_grant
where token_id = any ($1::text[])
group by token_id

-- lock_members: one at a time changes the members of a project; the counts are then true
-- in     $1 project
-- out    no row when there is no such project
-- locks  the project's row, but not for those that refer to it
select name
from project
where name = $1
for no key update

-- count_members: of a project, lock_members ran before
-- in     $1 project
select count(*) as members, count(*) filter (where role = 'admin') as admins
from membership
where project = $1

-- add_member_name: unless it is there
-- in     $1 name  $2 created_by
insert into member (name, created_by)
values ($1, $2)
on conflict do nothing

-- set_membership: a new one, or another role
-- in     $1 project  $2 member  $3 role  $4 changed_by
insert into membership (project, member, role, changed_by)
values ($1, $2, $3, $4)
on conflict (project, member) do update
set role       = excluded.role,
    changed_by = excluded.changed_by,
    changed_at = clock_timestamp()
returning project, member, role, changed_by, created_at, changed_at

-- delete_membership: the member stays, as one of no project or of others
-- in     $1 project  $2 member
delete from membership
where project = $1 and member = $2

-- find_membership: one member of a project
-- in     $1 project  $2 member
select project, member, role, changed_by, created_at, changed_at
from membership
where project = $1 and member = $2

-- list_memberships: the members of a project, by name
-- in     $1 project  $2 name to begin after or null  $3 limit
select project, member, role, changed_by, created_at, changed_at
from membership
where project = $1 and ($2::text is null or member > $2)
order by member
limit $3

-- find_member: whether there is one of this name, in some of these projects
-- in     $1 name  $2 projects text[]; null: in none, too
select name
from member
where name = $1
  and ($2::text[] is null
       or exists (select from membership
                  where membership.member = member.name and project = any ($2)))
