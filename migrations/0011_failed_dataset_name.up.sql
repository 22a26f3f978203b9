-- A dataset whose check failed gives its name back: the next try may have it.

alter table dataset drop constraint dataset_project_name_key;

create unique index dataset_project_name_key on dataset (project, name) where state <> 'failed';

create index dataset_failed_name on dataset (project, name, id) where state = 'failed';
