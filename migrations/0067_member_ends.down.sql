alter table attempt_member
    drop column outcome,
    drop column exited_at,
    drop column rendezvous;
