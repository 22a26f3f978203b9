-- hold_garbage: until the session ends, list_garbage gives no host anything to remove. What one of
-- them was given before is named by no snapshot that is taken afterwards.
-- out    held; false: another backup holds it
select pg_try_advisory_lock(hashtextextended('slipway garbage', 0)) as held

-- begin_snapshot: a transaction that sees one moment
begin isolation level repeatable read, read only

-- export_snapshot: for pg_dump --snapshot, while the transaction lasts
-- out    snapshot
select pg_export_snapshot() as snapshot

-- list_named_files: what the store must have, as the rows name it
-- out    path below the store; sha256: '' if not known
select format('checkpoints/%s/%s/%s', job_id, name, file ->> 'name') as path,
       file ->> 'sha256' as sha256
from checkpoint
cross join jsonb_array_elements(files) as file
where deleted_at is null
union all
select format('splits/%s.json', id), replace(hash, 'sha256:', '')
from split
where state = 'ready'
union all
select 'datasets/' || id, ''
from dataset
where state = 'ready' and source ? 'upload'
