-- Searches for a part of a job's name find it by the trigrams of the names instead of reading every
-- job. The extension is one of PostgreSQL's own additional modules; the owner of a database may
-- create it. The list of pending names is short, since each search reads all of it.
do $$
begin
    if exists (select from pg_extension where extname = 'pg_trgm') then
        return;
    end if;
    if not exists (select from pg_available_extensions where name = 'pg_trgm') then
        raise exception 'the extension pg_trgm is not installed with the PostgreSQL of this database: install the '
                        'package of its additional modules (postgresql-contrib)';
    end if;
    if not has_database_privilege(current_database(), 'create') then
        raise exception 'the role % may not create the extension pg_trgm: run "create extension pg_trgm" in the '
                        'database % as a superuser', current_user, current_database();
    end if;
    create extension pg_trgm;
end $$;
create index job_name_trigrams on job using gin (name gin_trgm_ops)
    with (gin_pending_list_limit = 512);

-- Else the newest events, which streams ask for, are read whole until the next vacuum.
alter index job_event_time set (autosummarize = on);
