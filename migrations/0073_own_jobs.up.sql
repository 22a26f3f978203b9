-- Lists of jobs that are no trial and no fold (parent=none). The jobs that rest are read in order,
-- however many trials of a sweep lie between them. An ended job enters these indexes once.
create index job_own_resting on job (resting_state, id)
    where resting_state is not null and parent_id is null;
create index job_own_resting_end on job (resting_state, coalesce(finished_at, 'infinity'), id)
    where resting_state is not null and parent_id is null;

create or replace function job_matches(listed job, projects text[], name_pattern text,
                                       wanted_labels jsonb, used_dataset text, wanted_kind text,
                                       created tstzrange, finished tstzrange, wanted_parent text)
    returns boolean
    language sql stable
as $$
    select (projects is null or listed.project = any (projects))
       and (name_pattern is null or listed.name ilike name_pattern)
       and (wanted_labels is null or listed.labels @> wanted_labels)
       and (used_dataset is null or listed.dataset_id = used_dataset)
       and (wanted_kind is null or listed.kind = wanted_kind)
       and (created is null or listed.created_at <@ created)
       and (finished is null or listed.finished_at <@ finished)
       and (wanted_parent is null or listed.parent_id = wanted_parent
            or (wanted_parent = 'none' and listed.parent_id is null))
$$;
