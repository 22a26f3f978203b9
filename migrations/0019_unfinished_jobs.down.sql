drop index job_unfinished_upload;
drop index job_unfinished_split;
drop index job_unfinished_dataset;
