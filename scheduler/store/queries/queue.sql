-- list_queue: the head of the queue in the order of scheduling
-- in     $1 limit
select queue.job_id, job.project, job.queue_class, queue.class_rank, queue.age_key, queue.cores,
       queue.core_id, queue.not_before,
       queue.not_before is null or queue.not_before <= clock_timestamp() as due,
       queue.valid_until, job.dataset_id, dataset.state as dataset_state
from queue
join job on job.id = queue.job_id
left join dataset on dataset.id = job.dataset_id
order by queue.class_rank, queue.age_key, queue.job_id
limit $1

-- place_job: an attempt, its leases and the state `starting`, or no row
-- in     $1 job_id  $2 host  $3 cores smallint[]  $4 token  $5 lease in seconds
-- out    attempt
-- locks  the queue row (skipped when another scheduler has it), the job
-- errors unique violation when one of the cores is leased
with wanted as (
    select job_id
    from queue
    where job_id = $1
      and (not_before is null or not_before <= clock_timestamp())
    for update skip locked
), room as (
    select core
    from host, unnest($3::smallint[]) as core
    where name = $2
      and core between 1 and host.cores
      and not core = any (drained)
), moved as (
    update job
    set state          = 'starting',
        attempts       = attempts + 1,
        reason_code    = null,
        reason_message = null
    from wanted
    where job.id = wanted.job_id
      and job.state = 'queued'
      and job.cores = cardinality($3)
      and (job.core_id is null or $3 = array[job.core_id])
      and (select count(*) from room) = cardinality($3)
      and not exists (select from dataset
                      where dataset.id = job.dataset_id and dataset.state <> 'ready')
    returning job.id, job.attempts
), tried as (
    insert into attempt (job_id, attempt, token, host, cores)
    select id, attempts, $4, $2, $3
    from moved
    returning job_id, attempt
), leased as (
    insert into lease (host, core, job_id, attempt, expires_at)
    select $2, room.core, tried.job_id, tried.attempt,
           clock_timestamp() + make_interval(secs => $5)
    from tried, room
)
select attempt
from tried

-- find_queue_position: how many are before a queued job
-- in     $1 job_id
-- out    position, cores_ahead; no row when it is not queued
select 1 + count(ahead.job_id) as position,
       coalesce(sum(ahead.cores), 0) as cores_ahead
from queue as mine
left join queue as ahead
       on (ahead.class_rank, ahead.age_key, ahead.job_id)
        < (mine.class_rank, mine.age_key, mine.job_id)
where mine.job_id = $1
group by mine.job_id

-- queue_stats: what waits in each class
select job.queue_class, count(*) as jobs, sum(queue.cores) as cores, min(queue.age_key) as oldest
from queue
join job on job.id = queue.job_id
group by queue.class_rank, job.queue_class
order by queue.class_rank
