-- Checkpoints of trials that were passed by are deleted while a sweep goes on, and once more when it
-- has ended. What sweeps that ended before have kept stays.
alter table sweep add column tidied boolean default false not null;
update sweep set tidied = true where finished_at is not null;
create index sweep_untidied on sweep (id) where finished_at is not null and not tidied;

