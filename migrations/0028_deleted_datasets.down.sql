drop index job_dataset;
create index job_dataset on job (dataset_id);

drop trigger split_of_dataset on split;
drop trigger job_to_dataset on job;
drop trigger job_of_dataset on job;
drop function dataset_is_there();

delete from split where dataset_id in (select id from deleted_dataset);
update job set dataset_id = null where dataset_id in (select id from deleted_dataset);

alter table split add constraint split_dataset_id_fkey
    foreign key (dataset_id) references dataset (id) on delete cascade;
alter table job add constraint job_dataset_id_fkey
    foreign key (dataset_id) references dataset (id) on delete set null;

drop trigger dataset_leaves on dataset;
drop function dataset_leaves();
drop table deleted_dataset;
