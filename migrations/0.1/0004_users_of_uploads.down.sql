drop view upload_user;
drop index job_unfinished_network;
