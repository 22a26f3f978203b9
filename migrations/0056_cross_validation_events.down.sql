drop trigger cross_validation_fold_moves on cross_validation_fold;
drop function cross_validation_fold_moves();
drop trigger cross_validation_moves on cross_validation;
drop function cross_validation_moves();
drop function append_cross_validation_event(text, text, json);
drop table cross_validation_event;
alter table cross_validation drop column event_seq;
