-- Fails while there are evaluations: the older service could not run them.
alter table job
    drop constraint job_kind_check,
    add constraint job_kind_check check (kind in ('train', 'predict'));
