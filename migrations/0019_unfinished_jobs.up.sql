-- Who uses a dataset, a split or an upload is asked among jobs that have not ended: they are few
-- beside all that a dataset has ever had. Only jobs that name a split or an upload have rows in the
-- last two.
create index job_unfinished_dataset on job (dataset_id) where finished_at is null;
create index job_unfinished_split on job ((spec #>> '{data,split,id}'))
    where finished_at is null and spec #>> '{data,split,id}' is not null;
create index job_unfinished_upload on job ((spec #>> '{model,init,from}'))
    where finished_at is null and spec #>> '{model,init,from}' is not null;
