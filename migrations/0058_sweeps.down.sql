drop table sweep_trial;
drop table sweep_event;
drop table sweep;
