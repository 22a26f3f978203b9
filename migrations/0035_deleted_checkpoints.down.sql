drop trigger checkpoint_of_job on checkpoint;
delete from checkpoint where job_id in (select id from deleted_job);
alter table checkpoint add constraint checkpoint_job_id_attempt_fkey
    foreign key (job_id, attempt) references attempt (job_id, attempt) on delete cascade;
