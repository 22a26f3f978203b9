create table upload (
    id         text primary key check (id ~ '^upl_[0-9a-hjkmnp-tv-z]{26}$'),
    filename   text not null,
    size       bigint not null check (size >= 0),
    sha256     text not null check (sha256 ~ '^([0-9a-f]{64})?$'),
    received   bigint not null default 0 check (received between 0 and size),
    complete   boolean not null default false,
    created_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null,
    check (not complete or received = size)
);

-- `checking` datasets are claimed by one agent at a time: check_token is the fence of the check.
create table dataset (
    id               text primary key check (id ~ '^ds_[0-9a-hjkmnp-tv-z]{26}$'),
    project          text not null check (project <> ''),
    name             text not null check (name <> ''),
    format           text not null,
    source           jsonb not null,
    options          jsonb not null,
    state            text not null default 'checking'
                     check (state in ('checking', 'ready', 'failed')),
    report           jsonb,
    problems         jsonb,
    content_hash     text not null default '',
    bytes            bigint not null default 0,
    created_by       text not null,
    version          bigint not null default 1,
    created_at       timestamptz not null default clock_timestamp(),
    checked_at       timestamptz,
    check_host       text,
    check_token      text,
    check_expires_at timestamptz,
    unique (project, name),
    check ((state = 'checking') = (checked_at is null)),
    check (state <> 'ready' or report is not null),
    check (state <> 'failed' or problems is not null)
);
create index dataset_checking on dataset (id) where state = 'checking';
