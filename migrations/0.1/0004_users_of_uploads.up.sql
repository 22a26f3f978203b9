-- Trainings that have not ended and begin with the network of an upload.
create index job_unfinished_network on job ((spec #>> '{model,from}'))
    where finished_at is null and kind = 'train' and spec #>> '{model,from}' is not null;

-- What an upload is kept for: the jobs that begin with it, and the sweeps and cross-validations of
-- its token that name it anywhere. Their next job begins with it, while no job of theirs may exist.
create view upload_user as
    select spec #>> '{model,init,from}' as upload_id, 'job ' || id as used_by
    from job
    where finished_at is null and spec #>> '{model,init,from}' is not null
    union all
    select spec #>> '{model,from}', 'job ' || id
    from job
    where finished_at is null and kind = 'train' and spec #>> '{model,from}' is not null
    union all
    select upload.id, 'sweep ' || sweep.id
    from sweep
    join upload on upload.created_by = sweep.created_by
    where sweep.finished_at is null and strpos(sweep.spec::text, upload.id) > 0
    union all
    select upload.id, 'cross-validation ' || cross_validation.id
    from cross_validation
    join upload on upload.created_by = cross_validation.created_by
    where cross_validation.finished_at is null
      and strpos(cross_validation.spec::text, upload.id) > 0;
