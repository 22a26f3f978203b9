drop index sweep_split;
alter table sweep_trial drop column fold_values;
alter table sweep drop column folds;
alter table sweep drop column split_id;
