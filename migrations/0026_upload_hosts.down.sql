alter table dataset drop column upload_host;
alter table upload drop column host;
