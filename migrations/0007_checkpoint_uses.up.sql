-- A job keeps the checkpoint that it begins with, or predicts from, until it has ended.
create table checkpoint_use (
    checkpoint_id text not null references checkpoint,
    job_id        text not null references job on delete cascade,
    primary key (checkpoint_id, job_id)
);
create index checkpoint_use_job on checkpoint_use (job_id);

-- Its own job no longer keeps it, and another one uses it: it goes with its last user.
alter table checkpoint add column unwanted boolean not null default false;

insert into checkpoint_use (checkpoint_id, job_id)
select checkpoint.id, job.id
from job
join checkpoint on checkpoint.id in (job.spec #>> '{model,init,from}',
                                     job.prediction #>> '{from,checkpoint}')
where job.finished_at is null and checkpoint.deleted_at is null;

-- However a job ends, it lets go of what it used.
create function checkpoint_release() returns trigger language plpgsql as $$
declare
    used text;
begin
    for used in delete from checkpoint_use where job_id = new.id returning checkpoint_id loop
        -- Of two users that end together, the second one waits here and finds itself the last.
        perform from checkpoint where id = used for no key update;
        with dropped as (
            update checkpoint
            set deleted_at = clock_timestamp()
            where id = used and unwanted and not pinned and deleted_at is null
              and not exists (select from checkpoint_use where checkpoint_id = used)
            returning job_id, name
        )
        insert into garbage (path)
        select 'checkpoints/' || job_id || '/' || name
        from dropped;
    end loop;
    return null;
end
$$;
create trigger checkpoint_release after update on job
    for each row when (old.finished_at is null and new.finished_at is not null)
    execute function checkpoint_release();
