-- Who does the periodic work of a database, for how long, and in which term: the number that fences
-- one who was replaced without noticing.

create table leader (
    name       text primary key,
    holder     text not null,
    term       bigint not null check (term >= 1),
    expires_at timestamptz not null
);

-- Held by the session of the leader of a term: free means that its process has ended.
create function leader_lock(leader_name text, leader_term bigint) returns bigint
    language sql immutable
    return hashtextextended('slipway leader ' || leader_name || ' ' || leader_term, 0);

-- The last statement of each transaction of a leader. The row is shared until the commit, which
-- follows at once: nobody else becomes the leader in between.
create function check_leader(leader_name text, leader_term bigint) returns void
    language plpgsql as $$
begin
    perform from leader where name = leader_name and term = leader_term for share;
    if not found then
        raise exception 'term % of the leader of % is over', leader_term, leader_name
            using errcode = 'SW002';
    end if;
end
$$;
