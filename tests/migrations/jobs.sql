-- A home with 1,000 jobs in every state, through the triggers of its schema. begin_attempt, move and
-- add_points are of the build: first_jobs.sql or newest_jobs.sql.
insert into host (name, cores) values ('first', 64), ('second', 64);

insert into dataset (id, project, name, format, source, options, state, report, checked_at,
                     created_by)
values ('ds_' || repeat('0', 26), 'vision', 'digits', 'csv', '{"path": "/data/digits.csv"}', '{}',
        'ready', '{}', now(), 'tok_' || repeat('1', 26)),
       ('ds_' || repeat('1', 26), 'vision', 'later', 'csv', '{"path": "/data/later.csv"}', '{}',
        'checking', null, null, 'tok_' || repeat('1', 26));

create temp table plan as
select 'job_' || lpad(number::text, 26, '0') as id, number, path[cardinality(path)] as state, path,
       'starting' = any (path) as has_attempt
from (select number, case
          when number <= 10  then array['starting']
          when number <= 20  then array['starting', 'compiling']
          when number <= 80  then array['starting', 'compiling', 'running']
          when number <= 90  then array['starting', 'compiling', 'running', 'finishing']
          when number <= 100 then array['starting', 'compiling', 'running', 'preempting']
          when number <= 110 then array['starting', 'compiling', 'running', 'pausing']
          when number <= 120 then array['starting', 'compiling', 'running', 'cancelling']
          when number <= 160 then array['starting', 'compiling', 'running', 'pausing', 'paused']
          when number <= 460 then array['starting', 'compiling', 'running', 'finishing', 'succeeded']
          when number <= 560 then array['starting', 'failed']
          when number <= 600 then array['starting', 'compiling', 'running', 'stopped']
          when number <= 640 then array['starting', 'compiling', 'running', 'timed_out']
          when number <= 720 then array['cancelled']
          when number <= 760 then array['expired']
          else array['queued'] end as path
      from generate_series(1, 1000) as number) as numbered;

insert into job (id, name, project, labels, spec, dataset_id, queue_class, cores, not_before,
                 restarts_max, created_by)
select id, 'job ' || number, case number % 3 when 0 then 'speech' else 'vision' end,
       jsonb_build_object('run', number), jsonb_build_object('seed', number),
       case number % 10 when 9 then 'ds_' || repeat('1', 26) else 'ds_' || repeat('0', 26) end,
       (array['urgent', 'high', 'normal', 'low', 'idle'])[1 + number % 5], 1,
       case number % 7 when 6 then now() + interval '1 day' end, 3, 'tok_' || repeat('1', 26)
from plan
order by number;

-- Live attempts keep their core; the others used one of 120 that is free again.
do $$
declare
    planned record;
    step    text;
    on_host text;
    on_core integer;
begin
    for planned in select * from plan where state <> 'queued' order by number desc loop
        on_host := case when planned.number % 120 < 60 then 'first' else 'second' end;
        on_core := 1 + planned.number % 60;
        if planned.has_attempt then
            update job set attempts = 1 where id = planned.id;
            perform pg_temp.begin_attempt(planned.id, on_host, on_core);
            insert into lease (host, core, job_id, attempt, expires_at)
            values (on_host, on_core, planned.id, 1, now() + interval '1 minute');
        end if;
        foreach step in array planned.path loop
            perform pg_temp.move(planned.id, step);
        end loop;
        if planned.has_attempt then
            perform pg_temp.add_points(planned.id, case when planned.number % 50 = 0 then 600 else 5 end);
            insert into checkpoint (id, job_id, attempt, name, step, epoch, kinds, files, bytes)
            values ('ckp_' || lpad(planned.number::text, 26, '0'), planned.id, 1, 'step-5', 5, 1,
                    '{last}', '[]', 100);
            update job
            set best = jsonb_build_object('metric', 'loss', 'value', 0.2)
            where id = planned.id;
        end if;
        if planned.has_attempt and planned.number > 120 then
            delete from lease where job_id = planned.id;
            update attempt
            set ended_at  = clock_timestamp(),
                exit_kind = case planned.state when 'paused' then 'paused' else planned.state end
            where job_id = planned.id;
        end if;
    end loop;
end
$$;
