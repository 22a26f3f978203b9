-- Rows past their time, of one kind by one statement: of what has piled up in one table the others
-- do not wait. Each call removes a batch, the oldest first.

-- prune_idempotency_keys: those whose answers are no longer kept
-- in     $1 how many at once
-- out    changed
delete from idempotency
where ctid = any (array(
    select ctid
    from idempotency
    where started_at < statement_timestamp() - interval '24 hours'
    order by started_at
    limit $1
))

-- prune_surplus_keys: of each token the oldest beyond so many
-- in     $1 how many a token keeps  $2 how many at once
-- out    changed
delete from idempotency
where ctid = any (array(
    select surplus.ctid
    from (select token_id, count(*) - $1 as surplus
          from idempotency
          group by token_id
          having count(*) > $1) as crowded
    cross join lateral (select ctid
                        from idempotency
                        where token_id = crowded.token_id and status is not null
                        order by started_at
                        limit least(crowded.surplus, $2)) as surplus
    limit $2
))

-- prune_login_tickets: those that are too old to be used
-- in     $1 how many at once
-- out    changed
delete from login_ticket
where ctid = any (array(
    select ctid
    from login_ticket
    where expires_at < statement_timestamp()
    order by expires_at
    limit $1
))

-- prune_sessions: those that have ended
-- in     $1 how many at once
-- out    changed
delete from session
where ctid = any (array(
    select ctid
    from session
    where expires_at < statement_timestamp()
    order by expires_at
    limit $1
))

-- lock_expired_uploads: those that nothing needs; meanwhile no job is stored that begins with them
-- in     $1 how many at once
-- locks  their rows; those locked by others are left to the next call
select id
from upload
where expires_at < statement_timestamp()
  and not exists (select from upload_user where upload_id = upload.id)
order by expires_at
limit $1
for update skip locked

-- prune_uploads: of those the ones that nothing needs which was stored before the lock; their files
-- are garbage from now on
-- in     $1 ids text[]
-- out    garbage: changed
with gone as (
    delete from upload
    where id = any ($1::text[])
      and not exists (select from upload_user where upload_id = upload.id)
    returning id, host
)
insert into garbage (path, host)
select 'uploads/' || id, host
from gone

-- prune_audit: entries that are older than they are kept. Ids are in the order of time.
-- in     $1 keep in seconds  $2 how many at once
-- out    changed
delete from audit
where id = any (array(
    select id
    from (select id, at from audit order by id limit $2) as oldest
    where at < clock_timestamp() - make_interval(secs => $1)
))
