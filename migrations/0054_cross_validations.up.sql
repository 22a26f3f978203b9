-- One configuration trained on every fold of a split. Its jobs name it as their parent: the training
-- of fold 3 has the key "3", the predictions of its validation samples "3-oof", the training on all
-- samples "refit". Dataset and split may be deleted once it has ended.
create table cross_validation (
    id             text primary key check (id ~ '^cv_[0-9a-hjkmnp-tv-z]{26}$'),
    name           text not null,
    project        text not null,
    labels         jsonb not null default '{}',
    state          text not null default 'preparing'
                   check (state in ('preparing', 'running', 'cancelling', 'succeeded', 'failed',
                                    'cancelled')),
    reason_code    text,
    reason_message text,
    spec           jsonb not null,
    dataset_id     text not null,
    split_id       text not null,
    split_hash     text not null default '',    -- of its manifest, once it is ready
    repeats        integer,                     -- of the split, likewise
    oof_rows       bigint,                      -- once the out-of-fold predictions are collected
    oof_bytes      bigint,
    oof_sha256     text,
    oof_host       text,
    created_by     text not null,
    created_at     timestamptz not null default clock_timestamp(),
    started_at     timestamptz,
    finished_at    timestamptz,
    check ((finished_at is not null) = (state in ('succeeded', 'failed', 'cancelled'))),
    check ((oof_rows is null) = (oof_sha256 is null))
);
create index cross_validation_project on cross_validation (project, id);
create index cross_validation_unfinished on cross_validation (id) where finished_at is null;

-- What has become of a fold, kept when its jobs are gone. Fold -1 is the training on all samples.
create table cross_validation_fold (
    cross_validation_id text not null references cross_validation on delete cascade,
    fold                integer not null check (fold >= -1),
    state               text not null default 'waiting'
                        check (state in ('waiting', 'training', 'predicting', 'succeeded',
                                         'failed', 'cancelled')),
    predicts            boolean not null default false,    -- the job of its predictions was made
    reason              text,
    job_id              text,
    prediction_id       text,
    train_samples       bigint not null default 0,
    val_samples         bigint not null default 0,
    result              jsonb,    -- the last evaluation of its training
    finished_at         timestamptz,
    primary key (cross_validation_id, fold),
    check ((finished_at is not null) = (state in ('succeeded', 'failed', 'cancelled')))
);
