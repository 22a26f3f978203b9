-- The jobs that wait for a dataset follow its check in batches (release_jobs_of_dataset,
-- fail_jobs_of_dataset): one statement for as many jobs as a project may queue took longer than a
-- statement may, and the dataset could not leave `checking`.

drop trigger dataset_follow on dataset;
drop function dataset_follow();

drop index queue_dataset;
create index queue_dataset on queue (dataset_id, job_id) where not dataset_ready;
