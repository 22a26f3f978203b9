-- lock_migrations: one process at a time changes the schema; held until the connection ends
select pg_advisory_lock(hashtextextended('slipway migrations', 0))

-- has_bookkeeping: was this database ever migrated
-- out    found
select to_regclass('schema_migration') is not null as found

-- create_bookkeeping: the table of applied steps
create table if not exists schema_migration (
    number     integer primary key,
    name       text not null,
    checksum   text not null,
    applied_at timestamptz not null default clock_timestamp()
)

-- list_applied: the steps of this database
select number, name, checksum, applied_at
from schema_migration
order by number

-- record_step: applied
-- in     $1 number  $2 name  $3 checksum
insert into schema_migration (number, name, checksum)
values ($1, $2, $3)

-- forget_step: reverted
-- in     $1 number
delete from schema_migration
where number = $1

-- forget_all_steps: for a database whose bookkeeping is replaced
delete from schema_migration

-- measure_database: what a dump may take at most, and the version of the server
-- out    bytes, major, tables: of the schema that ours would be made in
select pg_database_size(current_database()) as bytes,
       current_setting('server_version_num')::integer / 10000 as major,
       (select count(*) from pg_class
        where relnamespace = current_schema()::regnamespace and relkind = 'r') as tables
