drop table metric_point;
drop table checkpoint;
drop table lease;
drop function lease_guard();
drop table attempt;
drop trigger job_fits_attempt on job;
drop function attempt_fits_state();
drop table host;
