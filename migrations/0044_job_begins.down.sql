drop trigger job_begins on job;
drop function job_begins;

drop trigger job_counted on job;
create trigger job_counted after insert or delete on job
    for each row execute function job_counted();
drop trigger job_follow on job;
create trigger job_follow after insert or update on job
    for each row execute function job_follow();
create trigger job_of_dataset after insert on job
    for each row when (new.dataset_id is not null)
    execute function dataset_is_there();
