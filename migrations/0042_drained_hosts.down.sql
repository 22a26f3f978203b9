alter table host
    drop constraint host_drain_check,
    drop column drained_by,
    drop column drain_reason,
    drop column drained_at;
