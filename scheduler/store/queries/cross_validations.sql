-- find_equal_split: a split of the dataset that was made in the same way, or is being made; a failed
-- one is tried again
-- in     $1 dataset_id  $2 request
-- locks  its row, shared: it stays until the cross-validation is stored
select id
from split
where dataset_id = $1 and request = $2::jsonb and state <> 'failed'
order by id
limit 1
for share

-- lock_split_of_cross_validation: it stays until the cross-validation is stored
-- in     $1 id  $2 dataset_id
-- out    no row when it is gone
select id
from split
where id = $1 and dataset_id = $2
for share

-- insert_cross_validation: its split is looked at later
-- in     $1 id  $2 name  $3 project  $4 labels  $5 spec  $6 dataset_id  $7 split_id  $8 created_by
-- out    one row; none when the dataset is gone
-- locks  the dataset's row, shared: it stays until the cross-validation is stored
with used as (
    select id
    from dataset
    where id = $6
    for share
)
insert into cross_validation (id, name, project, labels, spec, dataset_id, split_id, created_by)
select $1, $2, $3, $4::jsonb, $5::jsonb, id, $7, $8
from used
returning id

-- find_cross_validation: with the number of its folds by state
-- in     $1 id
select id, name, project, labels, state, reason_code, reason_message, spec, dataset_id, split_id,
       split_hash, repeats, oof_rows, oof_bytes, oof_sha256, created_by, created_at, started_at,
       finished_at,
       (select jsonb_object_agg(state, folds)
        from (select state, count(*) as folds
              from cross_validation_fold
              where cross_validation_id = cross_validation.id and fold >= 0
              group by state) as counted) as fold_states,
       (select job_id
        from cross_validation_fold
        where cross_validation_id = cross_validation.id and fold = -1) as refit_job_id
from cross_validation
where id = $1

-- list_unfinished_cross_validations: those that have not ended, oldest first
-- out    id; progress: changes when there may be something to do; whose it is
select id,
       created_by,
       project,
       concat_ws(' ', state,
                 (select split.state from split where split.id = split_id),
                 'event', event_seq,
                 (select concat(count(*), ' jobs, ended ', count(finished_at))
                  from job
                  where parent_id = cross_validation.id)) as progress
from cross_validation
where finished_at is null
order by id

-- list_cross_validations: a page, newest first
-- in     $1 projects text[] or null  $2 states text[] or null  $3 id to begin after  $4 limit
--        $5 bytes_max
with page as (
    select id, name, project, labels, state, reason_code, reason_message, spec, dataset_id,
           split_id, split_hash, repeats, oof_rows, oof_bytes, oof_sha256, created_by, created_at,
           started_at, finished_at,
           (select jsonb_object_agg(state, folds)
            from (select state, count(*) as folds
                  from cross_validation_fold
                  where cross_validation_id = cross_validation.id and fold >= 0
                  group by state) as counted) as fold_states,
           (select job_id
            from cross_validation_fold
            where cross_validation_id = cross_validation.id and fold = -1) as refit_job_id
    from cross_validation
    where ($1::text[] is null or project = any ($1))
      and ($2::text[] is null or state = any ($2))
      and ($3::text is null or id < $3)
    order by id desc
    limit $4
), measured as (
    select page.*, count(*) over () as rows_found,
           coalesce(sum(octet_length(page::text)) over before_it, 0) as bytes_before
    from page
    window before_it as (order by id desc
                         rows between unbounded preceding and 1 preceding)
)
select *
from measured
where bytes_before < $5
order by bytes_before

-- list_folds: all folds of a cross-validation in their order, the training on all samples (-1) first,
-- with the newest jobs that they have
-- in     $1 id
with part as materialized (
    select distinct on (parent_key) id, parent_key, state, reason_code, reason_message, result
    from job
    where parent_id = $1
    order by parent_key, created_at desc, id desc
)
select fold.fold, fold.state, fold.predicts, fold.reason, fold.train_samples, fold.val_samples,
       fold.result, fold.finished_at,
       coalesce(fold.job_id, training.id) as job_id,
       coalesce(fold.prediction_id, prediction.id) as prediction_id,
       training.state as training_state, training.reason_code as training_code,
       training.reason_message as training_message, training.result as training_result,
       prediction.state as prediction_state, prediction.reason_code as prediction_code,
       prediction.reason_message as prediction_message
from cross_validation_fold as fold
left join part as training
       on training.parent_key = case when fold.fold = -1 then 'refit' else fold.fold::text end
left join part as prediction on prediction.parent_key = fold.fold::text || '-oof'
where fold.cross_validation_id = $1
order by fold.fold

-- begin_folds: its split is ready
-- in     $1 id  $2 hash  $3 repeats
-- out    no row when it no longer waits for it
update cross_validation
set state      = 'running',
    split_hash = $2,
    repeats    = $3,
    started_at = clock_timestamp()
where id = $1 and state = 'preparing'
returning id

-- insert_folds: those of a split, numbered from 0
-- in     $1 id  $2 train_samples bigint[]  $3 val_samples bigint[]
insert into cross_validation_fold (cross_validation_id, fold, train_samples, val_samples)
select $1, number - 1, train, val
from unnest($2::bigint[], $3::bigint[]) with ordinality as one (train, val, number)

-- lock_cross_validation: where it stands, until the transaction ends
-- in     $1 id
-- out    state; no row when there is none
-- locks  its row
select state
from cross_validation
where id = $1
for no key update

-- claim_folds: folds that wait get a job, in the transaction of the jobs
-- in     $1 id  $2 folds integer[]
-- out    the folds that did wait
update cross_validation_fold
set state  = 'training',
    job_id = null
where cross_validation_id = $1 and fold = any ($2) and state = 'waiting'
returning fold

-- claim_predictions: likewise, of folds that have trained
-- in     $1 id  $2 folds integer[]
update cross_validation_fold
set predicts = true
where cross_validation_id = $1 and fold = any ($2) and state = 'predicting' and not predicts
returning fold

-- insert_refit: the training on all samples gets a job, in the transaction of the job
-- in     $1 id
-- out    no row when it has one
insert into cross_validation_fold (cross_validation_id, fold, state)
values ($1, -1, 'training')
on conflict do nothing
returning fold

-- settle_fold: what became of a fold's job
-- in     $1 id  $2 fold  $3 state before  $4 state  $5 reason or null  $6 job_id or null
--        $7 prediction_id or null  $8 result or null
update cross_validation_fold
set state         = $4,
    reason        = $5,
    job_id        = coalesce($6, job_id),
    prediction_id = coalesce($7, prediction_id),
    result        = coalesce($8::jsonb, result),
    finished_at   = case when $4 in ('succeeded', 'failed', 'cancelled')
                         then clock_timestamp() end
where cross_validation_id = $1 and fold = $2 and state = $3

-- retry_fold: a fold that failed or was cancelled goes on: with its predictions, or where its last
-- job has got to, which is still named
-- in     $1 id  $2 fold  $3 state before  $4 whether its training is good
-- out    no row when it is in another state
update cross_validation_fold
set state         = case when $4 then 'predicting' else 'waiting' end,
    predicts      = false,
    prediction_id = null,
    reason        = null,
    result        = case when $4 then result end,
    finished_at   = null
where cross_validation_id = $1 and fold = $2 and state = $3
returning fold

-- retry_refit: the training on all samples that did not succeed is forgotten, and made again
-- in     $1 id
delete from cross_validation_fold
where cross_validation_id = $1 and fold = -1 and state in ('failed', 'cancelled')

-- reopen_cross_validation: one that has ended without success goes on where it stood
-- in     $1 id
update cross_validation
set state          = case when started_at is null then 'preparing' else 'running' end,
    reason_code    = null,
    reason_message = null,
    finished_at    = null
where id = $1 and state in ('failed', 'cancelled')

-- cancel_waiting_folds: folds that will get no job
-- in     $1 id  $2 reason
update cross_validation_fold
set state       = 'cancelled',
    reason      = $2,
    finished_at = clock_timestamp()
where cross_validation_id = $1 and state in ('waiting', 'predicting')

-- keep_oof: its out-of-fold predictions are in their file
-- in     $1 id  $2 rows  $3 bytes  $4 sha256  $5 host
update cross_validation
set oof_rows   = $2,
    oof_bytes  = $3,
    oof_sha256 = $4,
    oof_host   = $5
where id = $1

-- cancel_cross_validation: it starts no more jobs, and ends when those that it has have ended
-- in     $1 id  $2 reason_code  $3 reason_message
update cross_validation
set state          = 'cancelling',
    reason_code    = $2,
    reason_message = $3
where id = $1 and state in ('preparing', 'running')

-- finish_cross_validation: nothing of it is left to do
-- in     $1 id  $2 state  $3 reason_code or null  $4 reason_message or null: as they are, but that a
--        success has none, even when its cancellation came too late
update cross_validation
set state          = $2,
    reason_code    = case when $2 <> 'succeeded' then coalesce($3, reason_code) end,
    reason_message = case when $2 <> 'succeeded' then coalesce($4, reason_message) end,
    finished_at    = clock_timestamp()
where id = $1 and finished_at is null

-- list_cross_validation_events: the next events of one, as list_events
-- in     $1 id  $2 after seq  $3 types text[] or null  $4 limit
select cross_validation_id as job_id, seq, type, body, created_at
from cross_validation_event
where cross_validation_id = $1
  and seq > $2
  and ($3::text[] is null or type = any ($3))
order by seq
limit $4

-- list_events_of_cross_validations: the next events of many, as list_events_of_jobs
-- in     $1 ids text[]  $2 after seqs bigint[]  $3 limit of each
select event.cross_validation_id as job_id, event.seq, event.type, event.body, event.created_at
from unnest($1::text[], $2::bigint[]) as reader (id, after_seq)
cross join lateral (
    select *
    from cross_validation_event
    where cross_validation_id = reader.id and seq > reader.after_seq
    order by seq
    limit $3
) as event
order by event.cross_validation_id, event.seq

-- find_cross_validation_heads: how far the events of some go
-- in     $1 ids text[]
select id, project, event_seq, finished_at is not null as ended
from cross_validation
where id = any ($1::text[])
order by id

-- delete_cross_validation: one that has ended; its file is garbage from now on
-- in     $1 id
with gone as (
    delete from cross_validation
    where id = $1 and finished_at is not null
    returning id, oof_host
), kept as (
    insert into garbage (path, host)
    select 'reports/' || id, oof_host
    from gone
)
select id
from gone
