-- Which build wrote a checkpoint, its form and the version of the job spec: {"program", "build",
-- "format", "spec_version"}. Null: of a build that did not say.
alter table checkpoint
    add column written_by jsonb
        constraint checkpoint_written_by_check check (jsonb_typeof(written_by) = 'object');
