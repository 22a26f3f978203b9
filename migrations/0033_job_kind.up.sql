-- What a job does: a word of api/spec/job_kinds.def. What a kind asks for beside the spec that it
-- runs is its payload, in one column for all kinds: a new kind adds a word here, and no column.
alter table job add column kind text not null default 'train';
update job
set kind = 'predict'
where prediction is not null;
alter table job alter column kind drop default;

drop function job_matches(job, text[], text, jsonb, text, boolean);
drop index job_predictions;
alter table job rename column prediction to payload;
alter table job rename constraint job_prediction_check to job_payload_check;
alter table job
    add constraint job_kind_check check (kind in ('train', 'predict')),
    add constraint job_kind_payload check ((kind = 'train') = (payload is null));

-- Most jobs train: they pay nothing for it.
create index job_other_kinds on job (kind, id) where kind <> 'train';

-- What list_jobs is narrowed to; null = no such condition.
create function job_matches(listed job, projects text[], name_pattern text, wanted_labels jsonb,
                            used_dataset text, wanted_kind text) returns boolean
language sql stable as $$
    select (projects is null or listed.project = any (projects))
       and (name_pattern is null or listed.name ilike name_pattern)
       and (wanted_labels is null or listed.labels @> wanted_labels)
       and (used_dataset is null or listed.dataset_id = used_dataset)
       and (wanted_kind is null or listed.kind = wanted_kind)
$$;
