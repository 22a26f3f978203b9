-- Takes over the databases of builds before the first release, which had 75 numbered migrations.
--
-- The tables of such a database are set aside, the schema of release 0.1 is created beside them, and
-- what they hold is copied. Columns are copied by name; the few that a build did not have yet are
-- computed first, as the migrations did that added them. So every number from 4 (the first build)
-- to 74 takes the same path, and the result has the schema of a new database by construction. The
-- number 75 is the schema of release 0.1 and needs only another row in schema_migration.
--
-- No such build was released. Delete this file, and take_over() in migrate.cpp,
-- after release 0.2.

-- create_unreleased: where the tables are set aside
create schema unreleased

-- set_tables_aside: moves the tables there, without triggers and views
do $$
declare
    found record;
begin
    for found in select oid::regclass as name
                 from pg_class
                 where relnamespace = current_schema()::regnamespace and relkind = 'v' loop
        execute format('drop view %s', found.name);
    end loop;
    for found in select oid::regprocedure as name
                 from pg_proc
                 where pronamespace = current_schema()::regnamespace
                   and not exists (select from pg_depend where objid = pg_proc.oid
                                                           and deptype = 'e') loop
        execute format('drop function %s cascade', found.name);
    end loop;
    for found in select oid::regclass as name
                 from pg_class
                 where relnamespace = current_schema()::regnamespace and relkind = 'r' loop
        execute format('alter table %s set schema unreleased', found.name);
    end loop;
end
$$

-- compute_missing_columns: brings the tables set aside to what the copy reads
do $$
declare
    number      integer := (select max(schema_migration.number) from unreleased.schema_migration);
    path_before text    := current_setting('search_path');
begin
    -- Unqualified names are the old tables, and the new functions.
    perform set_config('search_path', 'unreleased, ' || current_schema(), true);

    -- Jobs: what an update asked of a live attempt, and what a job does.
    if number < 5 then
        alter table job add column prediction jsonb;
    end if;
    if number < 10 then
        alter table job add column intent text;
        update job
        set intent = case state
                         when 'cancelling' then case reason_code when 'killed' then 'kill'
                                                                 else 'cancel' end
                         when 'pausing' then 'pause'
                         else 'preempt'
                     end
        where state in ('cancelling', 'pausing', 'preempting');
    end if;
    if number < 33 then
        alter table job rename column prediction to payload;
        alter table job add column kind text;
        update job set kind = case when payload is null then 'train' else 'predict' end;
    end if;
    if number < 43 then
        create table live_job_metric as
        select id as job_id, best ->> 'metric' as name, value as last, value as low, value as high
        from job
        cross join lateral (select (best ->> 'value')::double precision as value) as measured
        where finished_at is null and best ->> 'metric' <> ''
          and jsonb_typeof(best -> 'value') = 'number';
        create table job_metric as
        select id as job_id, best ->> 'metric' as name, value as last, value as low, value as high
        from job
        cross join lateral (select (best ->> 'value')::double precision as value) as measured
        where finished_at is not null and best ->> 'metric' <> ''
          and jsonb_typeof(best -> 'value') = 'number';
    end if;

    -- Checkpoints that unfinished jobs start or predict from.
    if number < 7 then
        create table checkpoint_use as
        select checkpoint.id as checkpoint_id, job.id as job_id
        from job
        join checkpoint on checkpoint.id in (job.spec #>> '{model,init,from}',
                                             job.payload #>> '{from,checkpoint}')
        where job.finished_at is null and checkpoint.deleted_at is null;
    end if;

    -- Tokens and projects.
    if number < 23 then
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
    end if;
    if number between 9 and 37 then
        alter table executor_user rename to project;
        alter table project rename column project to name;
    end if;

    -- Datasets: the uploaded files of checked ones are removed. Splits have fences, too.
    if number < 30 then
        alter table dataset add column if not exists upload_host text;
        alter table garbage add column if not exists host text;
        insert into garbage (path, host)
        select 'uploads/' || (source ->> 'upload'), upload_host
        from dataset
        where state <> 'checking' and source ->> 'upload' ~ '^upl_[0-9a-hjkmnp-tv-z]{26}$';
    end if;
    if number between 27 and 29 then
        update dataset set upload_bytes = 0 where state <> 'checking';
    end if;
    if number < 34 then
        alter table dataset rename column check_token to check_fence;
    end if;
    if number between 6 and 33 then
        alter table split rename column make_token to make_fence;
    end if;

    -- Attempts have members, and cores have rows.
    if number < 34 then
        alter table attempt rename column token to fence;
        create table attempt_member as
        select job_id, attempt, 0 as rank, host, cores, pid, start_ticks, frames_relayed
        from attempt;
    end if;
    if number < 70 then
        create table core_slot as
        select host, core, job_id, attempt, leased_at, expires_at
        from (select name as host, generate_series(1, cores)::smallint as core from host) as every
        full join lease using (host, core);
    end if;

    -- The queue, and counts.
    if number < 8 then
        alter table queue rename column age_key to queued_at;
        alter table queue add column dataset_id text, add column dataset_ready boolean;
        update queue
        set dataset_id    = job.dataset_id,
            dataset_ready = exists (select from dataset
                                    where id = job.dataset_id and state = 'ready'),
            valid_until   = case when job.started_at is null then queue.valid_until end
        from job
        where job.id = queue.job_id;
    end if;
    if number < 32 then
        alter table queue add column if not exists project text,
                          add column if not exists name text,
                          add column memory_bytes bigint;
        update queue
        set project      = job.project,
            name         = job.name,
            memory_bytes = counted_memory_bytes(job.spec)
        from job
        where job.id = queue.job_id;
    end if;
    if number < 41 then
        drop table if exists unreleased.job_count;
        create table job_count as
        select state, project, case when state = 'queued' then created_by else '' end as created_by,
               case when state = 'queued' then queue_class else '' end as queue_class,
               count(*) as jobs
        from job
        group by 1, 2, 3, 4;
        create table queue_held_count as
        select project, class_rank,
               case when not_before is not null then 'start_after'
                    else 'waiting_for_dataset' end as code, count(*) as jobs
        from queue
        where not_before is not null or not dataset_ready
        group by 1, 2, 3;
    end if;

    -- Points were rows of their own. The bytes are those of scheduler/store/metrics/chunk.h: samples
    -- of 36 bytes, and a summary of each 512 points. A sum of values may be too large for its type,
    -- so they are divided first; the quotient of a tiny one is refused.
    if number < 40 then
        create table metric_chunk as
        select job_id, name, 512 * chunk as first_point, count(*)::integer as points,
               min(step) as step_first, max(step) as step_last,
               (array_agg(attempt order by step desc))[1] as attempt, max(at) as written_at,
               case when count(*) = 512
                    then int8send(max(step))
                         || int8send((array_agg(epoch order by step desc))[1])
                         || float8send((array_agg(value order by step desc))[1])
                         || int4send((array_agg(attempt order by step desc))[1])
                         || int8send((array_agg(microseconds order by step desc))[1])
                         || float8send(coalesce(min(value) filter (where finite), 0))
                         || float8send(coalesce(max(value) filter (where finite), 0))
                         || float8send(coalesce(sum(case when abs(value) > 1e-200 then value / 512
                                                         else 0 end) filter (where finite)
                                                * (512.0 / nullif(count(*) filter (where finite),
                                                                  0)), 0))
                         || int4send(512)
                         || int4send((count(*) filter (where not finite))::integer) end as summary,
               decode('00', 'hex')
               || string_agg(int8send(step) || int8send(epoch) || float8send(value)
                             || int4send(attempt) || int8send(microseconds), '' order by step)
                   as data
        from (select *, (row_number() over (partition by job_id, name order by step) - 1) / 512
                            as chunk,
                     abs(value) < 'infinity' as finite,
                     (extract(epoch from at) * 1000000)::bigint as microseconds
              from metric_point) as point
        group by job_id, name, chunk;
    end if;

    -- Sweeps that have ended keep their checkpoints; a webhook depends on the token that set its URL.
    if number between 58 and 59 then
        alter table sweep add column tidied boolean;
        update sweep set tidied = finished_at is not null;
    end if;
    if number between 51 and 61 then
        alter table webhook add column url_set_by text;
        update webhook set url_set_by = created_by;
    end if;
    perform set_config('search_path', path_before, true);
end
$$

-- copy_tables: fills the new tables, in the order of their foreign keys, and drops the old ones. The
-- rows that the schema begins with give way to those of the database, if it has the table; those of
-- the state machine are the schema's.
do $$
declare
    target  record;
    columns text;
    last_id bigint;
begin
    for target in select oid, relname as name
                  from pg_class
                  where relnamespace = current_schema()::regnamespace and relkind = 'r'
                    and relname not in ('schema_migration', 'job_state', 'job_transition')
                    and to_regclass('unreleased.' || relname) is not null
                  order by oid loop
        select string_agg(quote_ident(attname), ', ') into columns
        from pg_attribute as present
        where attrelid = target.oid and attnum > 0 and not attisdropped and attgenerated = ''
          and exists (select from pg_attribute
                      where attrelid = to_regclass('unreleased.' || target.name)
                        and attname = present.attname and not attisdropped);
        execute format('alter table %I disable trigger user', target.name);
        execute format('delete from %I', target.name);
        execute format('insert into %1$I (%2$s) overriding system value '
                       'select %2$s from unreleased.%1$I', target.name, columns);
        execute format('alter table %I enable trigger user', target.name);
        execute format('analyze %I', target.name);
        last_id := pg_sequence_last_value(to_regclass(format('unreleased.%s_id_seq', target.name)));
        if last_id is not null then
            perform setval(format('%I', target.name || '_id_seq'), last_id);
        end if;
    end loop;
end
$$;
drop schema unreleased cascade
