-- What somebody follows: what runs of it is stored sooner. Lost with a crash of the server: who
-- follows says it again.
create unlogged table watched (
    subject text primary key check (length(subject) <= 300),
    until   timestamptz not null
);
