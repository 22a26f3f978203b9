drop index job_predictions;
alter table job drop column prediction;
