-- What a job was made from, and how often a checkpoint was asked for. A job that continues another
-- one's training has the checkpoint that it goes on from until it has one of its own.
alter table job
    add column origin_action text,
    add column origin_job_id text,
    add column continues_from text,
    add column saves_requested integer default 0 not null,
    add constraint job_origin_action_check check (origin_action in ('retry', 'fork')),
    add constraint job_origin_check check ((origin_action is null) = (origin_job_id is null)),
    add constraint job_continues_from_check check (continues_from is null or origin_job_id is not null),
    add constraint job_saves_requested_check check (saves_requested >= 0);
