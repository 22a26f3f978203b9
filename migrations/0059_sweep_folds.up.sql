-- Sweeps whose trials are cross-validations: the split that all of them have, and what it divides
-- into once it is made. What a trial's folds have measured is kept with the trial.
alter table sweep add column split_id text;
alter table sweep add column folds json;    -- {"dataset_id", "sizes": [{"train", "val"}]}
alter table sweep_trial add column fold_values json default '[]' not null;
create index sweep_split on sweep (split_id) where split_id is not null and finished_at is null;
