-- Seconds that jobs run at most which state no limit of time, by the pool that they wait for; 'any':
-- those that run on all hosts. The scheduler lends reserved cores only to jobs with a limit.
create table pool_time_limit (
    pool       text primary key check (pool <> ''),
    max_wall_s double precision not null check (max_wall_s > 0)
);
