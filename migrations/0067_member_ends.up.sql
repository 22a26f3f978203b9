-- Members of an attempt on several hosts find each other by what each of them offers to the others,
-- and end one by one; the attempt ends when all have.
alter table attempt_member
    add column rendezvous bytea check (octet_length(rendezvous) <= 65536),
    add column exited_at timestamptz,
    add column outcome jsonb,
    add check ((exited_at is null) = (outcome is null));
