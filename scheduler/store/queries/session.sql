-- begin_transaction: read committed; row locks do the rest
begin

-- commit_transaction: ends a transaction
commit

-- rollback_transaction: ends a transaction as if it had not been
rollback

-- ping: does the database answer
select 1

-- announce: tell every listener about each topic
-- in     $1 topics text[]
-- locks  the notification queue, until the commit that follows at once
select pg_notify('slipway', topic)
from unnest($1::text[]) as topic

-- listen: hear what is announced, on this connection, from now on
listen slipway

-- try_lead: take the leadership of a name, once per connection
-- in     $1 name
-- out    leads
-- locks  an advisory lock of the session; hashtextextended spreads names over 64 bits
select pg_try_advisory_lock(hashtextextended('slipway leader ' || $1::text, 0)) as leads

-- has_database: in a new private cluster there is none yet
-- out    found
select exists (select from pg_database where datname = 'slipway') as found

-- create_database: the database of a private cluster
create database slipway
