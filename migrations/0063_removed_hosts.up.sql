-- A host that was removed stays as a row, for attempts refer to it, and as the reason why its agent
-- is refused until it joins again with a token.
alter table host
    add column removed_at timestamptz,
    add column removed_by text not null default '',
    -- Nothing is placed on a drained host; whoever places need not know of removed ones.
    add constraint host_removed_is_drained check (removed_at is null or drained_at is not null);
create index host_removed on host (home) where removed_at is not null;

create table host_join_token (
    id         text primary key check (id ~ '^hjt_[0-9a-hjkmnp-tv-z]{26}$'),
    sha256     text not null unique check (sha256 ~ '^[0-9a-f]{64}$'),
    host       text check (host <> ''),     -- null: for any
    uses_left  integer not null check (uses_left >= 0),
    created_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null
);
