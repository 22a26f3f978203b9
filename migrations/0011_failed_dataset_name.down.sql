-- The names were given away: a failed dataset is called by its id, too.
update dataset set name = left(name, 90) || ' ' || id where state = 'failed';

drop index dataset_failed_name;
drop index dataset_project_name_key;
alter table dataset add constraint dataset_project_name_key unique (project, name);
