-- begin_transaction: read committed; row locks do the rest
begin

-- commit_transaction: ends a transaction
commit

-- rollback_transaction: ends a transaction as if it had not been
rollback

-- keep_plans: for the rest of the transaction each statement has one plan, made once for a connection,
-- that finds rows by their indexes. Planning the statements that move jobs at each call took as long as
-- running them; and a plan made while the tables were small reads them whole when they are large.
select set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('enable_seqscan', 'off', true),
       set_config('enable_bitmapscan', 'off', true)

-- plan_each_time: for the rest of the transaction each statement is planned for its values
select set_config('plan_cache_mode', 'force_custom_plan', true)

-- ping: does the database answer
select 1

-- probe: can the database store something; waits for its disk
select pg_logical_emit_message(true, 'slipway', 'probe')

-- find_client: how the database sees this connection
-- out    now; address: of this machine, empty through a Unix socket
select clock_timestamp() as now, coalesce(host(inet_client_addr()), '') as address

-- announce: tell every listener about each topic
-- in     $1 topics text[]
-- locks  the notification queue, until the commit that follows at once; the disk is not waited for:
--        a notification does not outlive a crash of the database in any case
select pg_notify('slipway', topic)
from set_config('synchronous_commit', 'off', true) as commits_at_once, unnest($1::text[]) as topic

-- listen: hear what is announced, on this connection, from now on
listen slipway

-- lead: become the leader of a name, or stay it
-- in     $1 name  $2 holder  $3 lease in seconds  $4 term whose lock this session has, or 0
-- out    term, and whether this session has its lock; no row when another one leads
-- locks  the row of the name; an advisory lock of the session for each new term
-- One who leads is replaced when its lease has run out (it hangs) or its session is gone (it ended).
with led as (
    insert into leader as present (name, holder, term, expires_at)
    values ($1, $2, 1, clock_timestamp() + make_interval(secs => $3))
    on conflict (name) do update
    set term       = present.term + (present.holder <> excluded.holder)::integer,
        holder     = excluded.holder,
        expires_at = excluded.expires_at
    where present.holder = excluded.holder
       or present.expires_at not between clock_timestamp()
                                     and clock_timestamp() + make_interval(secs => 2 * $3::double precision)
       or pg_try_advisory_xact_lock(leader_lock(present.name, present.term))
    returning name, term
)
select term,
       case when term = $4 then true
            else pg_try_advisory_lock(leader_lock(name, term)) end as locked
from led

-- check_leader: fails when the term is over
-- in     $1 name  $2 term
-- locks  the row of the name, shared, until the commit
select check_leader($1, $2::bigint)
