drop trigger checkpoint_release on job;
drop function checkpoint_release();
-- Nobody would remember them: they go now.
with dropped as (
    update checkpoint
    set deleted_at = clock_timestamp()
    where unwanted and deleted_at is null
    returning job_id, name
)
insert into garbage (path)
select 'checkpoints/' || job_id || '/' || name
from dropped;
alter table checkpoint drop column unwanted;
drop table checkpoint_use;
