-- What a job predicts that does not train (PredictionSpec, its checkpoint by id); null: it trains.
alter table job
    add column prediction jsonb check (jsonb_typeof(prediction) = 'object');
create index job_predictions on job (id) where prediction is not null;
