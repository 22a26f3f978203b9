drop function job_matches(job, text[], text, jsonb, text, text);
drop index job_other_kinds;
alter table job
    drop constraint job_kind_payload,
    drop constraint job_kind_check;
alter table job rename constraint job_payload_check to job_prediction_check;
alter table job rename column payload to prediction;
alter table job drop column kind;
create index job_predictions on job (id) where prediction is not null;

create function job_matches(listed job, projects text[], name_pattern text, wanted_labels jsonb,
                            used_dataset text, predicts boolean) returns boolean
language sql stable as $$
    select (projects is null or listed.project = any (projects))
       and (name_pattern is null or listed.name ilike name_pattern)
       and (wanted_labels is null or listed.labels @> wanted_labels)
       and (used_dataset is null or listed.dataset_id = used_dataset)
       and (predicts is null or (listed.prediction is not null) = predicts)
$$;
