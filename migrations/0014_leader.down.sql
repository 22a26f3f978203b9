drop function check_leader(text, bigint);
drop function leader_lock(text, bigint);
drop table leader;
