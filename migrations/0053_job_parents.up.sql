-- A job may be a part of something: a trial of a sweep, a fold of a cross-validation. Parents are
-- rows of several tables, so no foreign key; who deletes a parent deletes its jobs first.
alter table job
    add column parent_id text,
    add column parent_key text,    -- which part: a trial or a fold
    add constraint job_parent_id_check check (parent_id ~ '^(swp|cv)_[0-9a-hjkmnp-tv-z]{26}$'),
    add constraint job_parent_key_check
        check (parent_key <> '' and (parent_id is null) = (parent_key is null));

create index job_parent on job (parent_id, id) where parent_id is not null;

-- What a list of jobs is narrowed to; null = no such condition.
drop function job_matches(job, text[], text, jsonb, text, text, tstzrange, tstzrange);
create function job_matches(listed job, projects text[], name_pattern text, wanted_labels jsonb,
                            used_dataset text, wanted_kind text, created tstzrange,
                            finished tstzrange, wanted_parent text) returns boolean
language sql stable as $$
    select (projects is null or listed.project = any (projects))
       and (name_pattern is null or listed.name ilike name_pattern)
       and (wanted_labels is null or listed.labels @> wanted_labels)
       and (used_dataset is null or listed.dataset_id = used_dataset)
       and (wanted_kind is null or listed.kind = wanted_kind)
       and (created is null or listed.created_at <@ created)
       and (finished is null or listed.finished_at <@ finished)
       and (wanted_parent is null or listed.parent_id = wanted_parent)
$$;
