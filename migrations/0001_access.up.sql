-- Who may ask, and what was asked. Only hashes of secrets are stored.

create table token (
    id           text primary key check (id ~ '^tok_[0-9a-hjkmnp-tv-z]{26}$'),
    name         text not null check (name <> ''),
    lookup       text not null unique check (lookup <> ''),
    sha256       text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    role         text not null check (role in ('admin', 'editor', 'viewer')),
    projects     text[] not null default '{}',
    created_by   text not null default '',
    created_at   timestamptz not null default clock_timestamp(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz
);

create table login_ticket (
    sha256     text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
    token_id   text not null references token on delete cascade,
    expires_at timestamptz not null
);

create table session (
    sha256     text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
    token_id   text not null references token on delete cascade,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null
);
create index session_token on session (token_id);

-- An answer is kept with its key for 24 hours. No answer yet: the request is running.
create table idempotency (
    token_id   text not null,
    key        text not null check (length(key) between 1 and 128),
    body_hash  text not null,
    started_at timestamptz not null default clock_timestamp(),
    status     smallint,
    body       text,
    location   text,
    primary key (token_id, key),
    check ((status is null) = (body is null))
);
create index idempotency_started on idempotency (started_at);

create table audit (
    id         bigint generated always as identity primary key,
    at         timestamptz not null default clock_timestamp(),
    token_id   text not null,
    action     text not null,
    object     text not null,
    request_id text not null,
    detail     json not null
);

-- Files and folders that no row names any more, to be removed by the machine that holds them.
create table garbage (
    id       bigint generated always as identity primary key,
    path     text not null check (path ~ '^[a-z]+/[A-Za-z0-9_./-]+$' and path !~ '\.\.'),
    added_at timestamptz not null default clock_timestamp()
);
