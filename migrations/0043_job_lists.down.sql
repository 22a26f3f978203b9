drop trigger job_metrics_settle on job;
drop function job_metrics_settle();
drop table job_metric;
drop table live_job_metric;
drop function job_matches(job, text[], text, jsonb, text, text, tstzrange, tstzrange);
create function job_matches(listed job, projects text[], name_pattern text, wanted_labels jsonb,
                            used_dataset text, wanted_kind text) returns boolean
language sql stable as $$
    select (projects is null or listed.project = any (projects))
       and (name_pattern is null or listed.name ilike name_pattern)
       and (wanted_labels is null or listed.labels @> wanted_labels)
       and (used_dataset is null or listed.dataset_id = used_dataset)
       and (wanted_kind is null or listed.kind = wanted_kind)
$$;
