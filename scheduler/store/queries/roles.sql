-- make_roles: the superuser is postgres, slipway a plain role, and there are no others that log in
do $$ begin
    -- initdb's superuser cannot be dropped or lose its rights, and no session can rename its own role
    if exists (select from pg_roles where rolname = 'slipway' and oid = 10) then
        drop role if exists slipway_upgrade;
        create role slipway_upgrade superuser;
        set local session authorization slipway_upgrade;
        alter role slipway rename to postgres;
        set local session authorization postgres;
    end if;
    drop role if exists slipway_upgrade;
    if not exists (select from pg_roles where rolname = 'slipway') then
        create role slipway login;
    end if;
    alter role slipway nosuperuser nocreatedb nocreaterole noreplication nobypassrls;
end $$

-- create_database: the database of a private cluster
create database slipway

-- own_database: the service's database is the service's
alter database slipway owner to slipway

-- own_objects: what the superuser made in it becomes the service's, too; twice does nothing
-- locks  each table that changes hands, exclusively and briefly
do $$
declare
    one record;
begin
    for one in
        select case relkind when 'v' then 'view' when 'm' then 'materialized view'
                            when 'S' then 'sequence' else 'table' end as kind, oid::regclass::text as name
        from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
          and relowner <> 'slipway'::regrole
          and not exists (select from pg_depend    -- a column's sequence goes with its table
                          where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype in ('a', 'i')
                            and relkind = 'S')
        union all
        select 'routine', oid::regprocedure::text
        from pg_proc
        where pronamespace = 'public'::regnamespace and proowner <> 'slipway'::regrole
          and not exists (select from pg_depend    -- an extension's stay with it
                          where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
        union all
        select 'type', oid::regtype::text
        from pg_type
        where typnamespace = 'public'::regnamespace and typowner <> 'slipway'::regrole
          and typtype in ('e', 'd', 'r')
    loop
        execute format('alter %s %s owner to slipway', one.kind, one.name);
    end loop;
end $$

-- has_roles: whether all of this has been done, in a session of the role slipway
-- out    found
select not (rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls)
       and (select datdba = pg_roles.oid from pg_database where datname = 'slipway')
       and not exists (select from pg_class
                       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
                         and relowner <> pg_roles.oid)
       and not exists (select from pg_proc
                       where pronamespace = 'public'::regnamespace and proowner <> pg_roles.oid
                         and not exists (select from pg_depend
                                         where classid = 'pg_proc'::regclass and objid = pg_proc.oid
                                           and deptype = 'e'))
       and not exists (select from pg_type
                       where typnamespace = 'public'::regnamespace and typowner <> pg_roles.oid and typtype in ('e', 'd', 'r'))
       as found
from pg_roles
where rolname = 'slipway'
