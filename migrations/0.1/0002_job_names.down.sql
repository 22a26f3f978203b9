drop index job_name_trigrams;
alter index job_event_time reset (autosummarize);
do $$
begin
    -- One that a superuser has created stays.
    if exists (select from pg_extension
               where extname = 'pg_trgm' and extowner = current_user::regrole) then
        drop extension pg_trgm;
    end if;
end $$;
