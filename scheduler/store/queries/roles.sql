-- make_upgrade_role: a role of the same rights, because no session can rename its own
do $$ begin
    if not exists (select from pg_roles where rolname = 'slipway_upgrade') then
        create role slipway_upgrade superuser login;
    end if;
end $$

-- free_role_name: the superuser that initdb made gets the name it has everywhere
do $$ begin
    alter role slipway rename to postgres;
    create role slipway login;
end $$

-- make_roles: the service's plain role; of an upgrade nothing stays
do $$ begin
    drop role if exists slipway_upgrade;
    if not exists (select from pg_roles where rolname = 'slipway') then
        create role slipway login;
    end if;
    alter role slipway nosuperuser nocreatedb nocreaterole noreplication nobypassrls;
end $$

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
        from pg_proc where pronamespace = 'public'::regnamespace and proowner <> 'slipway'::regrole
        union all
        select 'type', oid::regtype::text
        from pg_type
        where typnamespace = 'public'::regnamespace and typowner <> 'slipway'::regrole
          and typtype in ('e', 'd', 'r')
    loop
        execute format('alter %s %s owner to slipway', one.kind, one.name);
    end loop;
end $$
