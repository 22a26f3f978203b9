-- What a dataset keeps on the disk besides what it unpacked: the file it was made from. How much a
-- project and a token have there is asked with each new upload and each dataset of one.
alter table dataset add column upload_bytes bigint not null default 0 check (upload_bytes >= 0);
create index dataset_stored on dataset (project) where source ? 'upload';
create index dataset_stored_token on dataset (created_by) where source ? 'upload';
create index upload_stored on upload (created_by);
