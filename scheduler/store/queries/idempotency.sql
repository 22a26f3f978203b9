-- claim_idempotency_key: the right to answer a request
-- in     $1 token_id  $2 key  $3 body_hash  $4 whether the work may be done twice
-- out    one row when the caller is to do the work; none when the key is taken
-- locks  the key: another transaction with the same key waits for this one to end
-- A mark without an answer after a minute, or from before the clock was set back: its process has died, or could not store the answer.
-- Whether the work was done is not known, so only work that may be done twice is.
insert into idempotency (token_id, key, body_hash)
values ($1, $2, $3)
on conflict (token_id, key) do update
set started_at = clock_timestamp()
where $4
  and idempotency.status is null
  and idempotency.body_hash = excluded.body_hash
  and idempotency.started_at not between clock_timestamp() - interval '1 minute'
                                     and clock_timestamp() + interval '1 minute'
returning key

-- find_idempotency_key: what is known about a key
-- in     $1 token_id  $2 key
select body_hash, status, body, location,
       status is null
       and started_at not between clock_timestamp() - interval '1 minute'
                              and clock_timestamp() + interval '1 minute' as orphaned
from idempotency
where token_id = $1 and key = $2

-- finish_idempotency_key: the answer to give from now on
-- in     $1 token_id  $2 key  $3 status  $4 body  $5 location
update idempotency
set status   = $3,
    body     = $4,
    location = $5
where token_id = $1 and key = $2

-- abandon_idempotency_key: as if it had not been asked
-- in     $1 token_id  $2 key
delete from idempotency
where token_id = $1 and key = $2 and status is null
