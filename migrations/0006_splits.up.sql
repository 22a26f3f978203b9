-- Some samples of a dataset, for people to look at; null for those checked before there was this.
alter table dataset add column preview jsonb;

-- A dataset divided for good. The manifest is the file store/splits/<id>.json; its bytes have
-- `hash`. `making` splits are claimed by one agent at a time: make_token is the fence.
create table split (
    id              text primary key check (id ~ '^spl_[0-9a-hjkmnp-tv-z]{26}$'),
    dataset_id      text not null references dataset on delete cascade,
    request         jsonb not null,
    state           text not null default 'making' check (state in ('making', 'ready', 'failed')),
    report          jsonb,
    problems        jsonb,
    folds           integer check (folds >= 1),
    hash            text not null default '' check (hash ~ '^(sha256:[0-9a-f]{64})?$'),
    bytes           bigint not null default 0,
    created_by      text not null,
    created_at      timestamptz not null default clock_timestamp(),
    made_at         timestamptz,
    make_host       text,
    make_token      text,
    make_expires_at timestamptz,
    check ((state = 'making') = (made_at is null)),
    check (state <> 'ready' or (report is not null and folds is not null and hash <> '')),
    check (state <> 'failed' or problems is not null)
);
create index split_dataset on split (dataset_id, id);
create index split_making on split (id) where state = 'making';
