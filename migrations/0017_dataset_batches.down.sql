drop index queue_dataset;
create index queue_dataset on queue (dataset_id) where not dataset_ready;

create function dataset_follow() returns trigger language plpgsql as $$
begin
    update queue
    set dataset_ready = true
    from (select job_id
          from queue
          where dataset_id = new.id and not dataset_ready
          order by job_id
          for no key update) as waiting
    where queue.job_id = waiting.job_id;
    return null;
end
$$;
create trigger dataset_follow after update of state on dataset
    for each row when (old.state <> 'ready' and new.state = 'ready')
    execute function dataset_follow();

update queue
set dataset_ready = true
from dataset
where dataset.id = queue.dataset_id and dataset.state = 'ready' and not dataset_ready;
