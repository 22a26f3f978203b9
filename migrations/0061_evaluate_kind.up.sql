-- Jobs that measure a checkpoint on labelled samples: a word of api/spec/job_kinds.def.
alter table job
    drop constraint job_kind_check,
    add constraint job_kind_check check (kind in ('train', 'predict', 'evaluate'));
