-- Which folder is the store of this service: an id that stands in the store, too. Hosts compare it,
-- and the marks that living hosts have written there, so that a folder that is another one, or a
-- copy, is noticed before a job runs on it.
create table shared_store (
    only_row   boolean primary key default true check (only_row),
    id         text not null check (id ~ '^[0-9a-f]{32}$'),
    created_at timestamptz not null default clock_timestamp()
);
create table host_store_mark (
    host text primary key references host (name) on delete cascade,
    mark text not null check (mark ~ '^[0-9a-f]{32}$')
);
