drop index upload_stored;
drop index dataset_stored_token;
drop index dataset_stored;
alter table dataset drop column upload_bytes;
