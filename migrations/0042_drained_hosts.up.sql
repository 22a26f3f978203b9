-- A host takes no new job as a whole, for a reason and by somebody; which of its cores are drained is
-- kept beside it and counts again when the host is taken back.
alter table host
    add column drained_at timestamptz,
    add column drain_reason text default '' not null,
    add column drained_by text default '' not null,    -- tok_…
    add constraint host_drain_check check (drained_at is not null
                                           or (drain_reason = '' and drained_by = ''));
