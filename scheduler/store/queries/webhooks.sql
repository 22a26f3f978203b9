-- Webhooks, their outbox and their deliveries (scheduler/store/webhooks.h).

-- lock_project_webhooks: until the transaction ends, two that are made at a time count each other
-- in     $1 project
-- locks  the project's number
select pg_advisory_xact_lock(hashtextextended('slipway webhooks ' || $1, 0))

-- count_project_webhooks: a statement of its own behind lock_project_webhooks: one that waited for the
-- lock would count what was there before it waited
-- in     $1 project
select count(*) as webhooks
from webhook
where project = $1

-- insert_webhook: a webhook
-- in     $1 id  $2 project  $3 url  $4 events text[]  $5 secret  $6 created_by  $7 description
insert into webhook (id, project, url, events, secret, created_by, url_set_by, description)
values ($1, $2, $3, $4::text[], $5, $6, $6, $7)

-- list_webhooks: a page of webhooks, newest first
-- in     $1 projects text[]; null: all  $2 id to begin after; null: from the first  $3 limit
select *, case when previous_secret is not null and secret_until > statement_timestamp()
               then secret_until end as previous_secret_until
from webhook
where ($1::text[] is null or project = any ($1))
  and ($2::text is null or id < $2)
order by id desc
limit $3

-- find_webhook: one webhook
-- in     $1 id
select *, case when previous_secret is not null and secret_until > statement_timestamp()
               then secret_until end as previous_secret_until
from webhook
where id = $1

-- patch_webhook: changes what is given
-- in     $1 id  $2 version; null: any  $3 url  $4 events text[]  $5 description  $6 enabled
--        $7 secret  $8 who sets the url  $9 how long the secret until now signs as well
-- out    the webhook; none when there is none of this version
update webhook
set url             = coalesce($3, url),
    url_set_by      = case when $3::text is null then url_set_by else $8 end,
    events          = coalesce($4::text[], events),
    description     = coalesce($5, description),
    enabled         = coalesce($6::boolean, enabled),
    previous_secret = case when $7::text is null then previous_secret else secret end,
    secret_until    = case when $7::text is null then secret_until
                           else statement_timestamp() + $9::interval end,
    secret          = coalesce($7, secret),
    version         = version + 1
where id = $1 and ($2::bigint is null or version = $2::bigint)
returning *, case when previous_secret is not null and secret_until > statement_timestamp()
                  then secret_until end as previous_secret_until

-- delete_webhook: with its deliveries
-- in     $1 id
delete from webhook where id = $1

-- count_webhook_events: how many wait in the outbox
-- in     $1 at most
select count(*) as events from (select from webhook_event limit $1::bigint) as waiting

-- expand_webhook_events: takes the oldest events from the outbox and makes the deliveries that
-- webhooks want, of tokens that may still see the project. A webhook with too many that wait
-- gets one that has failed already: its log says what was missed.
-- in     $1 limit  $2 ids text[] for the deliveries  $3 how many may wait
-- out    events: that were taken; deliveries: that were made; more_ids: events were left for the
--        lack of ids
-- locks  the events, passing over those that another process has
with taken as materialized (
    select id, project, type, body
    from webhook_event
    order by id
    limit $1
    for update skip locked
), wanted as materialized (
    select taken.id as event_id, webhook.id as webhook_id, taken.type, taken.body,
           row_number() over (order by taken.id, webhook.id) as place
    from taken
    join webhook on webhook.project = taken.project and taken.type = any (webhook.events)
    where webhook.enabled
      and exists (select from token_grant
                  where token_grant.token_id = webhook.url_set_by
                    and (token_grant.project is null or token_grant.project = taken.project))
), done as materialized (
    -- Events whose deliveries all have an id.
    select taken.id
    from taken
    where not exists (select from wanted
                      where wanted.event_id = taken.id and wanted.place > cardinality($2::text[]))
), crowded as materialized (
    select webhook_id
    from (select distinct webhook_id from wanted) as asked
    where (select count(*)
           from (select from webhook_delivery as delivery
                 where delivery.webhook_id = asked.webhook_id and state = 'pending'
                 limit $3::bigint) as waiting) >= $3::bigint
), made as (
    insert into webhook_delivery (id, webhook_id, type, body, state, error, ended_at)
    select ($2::text[])[wanted.place::integer], wanted.webhook_id, wanted.type, wanted.body::text,
           case when crowded.webhook_id is null then 'pending' else 'failed' end,
           case when crowded.webhook_id is not null
                then $3::bigint || ' deliveries of this webhook wait already' end,
           case when crowded.webhook_id is not null then clock_timestamp() end
    from wanted
    join done on done.id = wanted.event_id
    left join crowded using (webhook_id)
    returning 1
), gone as (
    delete from webhook_event where id in (select id from done) returning 1
)
select (select count(*) from gone) as events, (select count(*) from made) as deliveries,
       (select count(*) from taken) - (select count(*) from done) as more_ids

-- claim_webhook_deliveries: takes deliveries that are due: they are due again, for whoever comes
-- first, after a lease
-- in     $1 webhooks text[] that are busy  $2 how many of a webhook  $3 limit  $4 lease
-- locks  the deliveries, passing over those that another process has
with due as materialized (
    select head.id
    from webhook
    cross join lateral (
        select id, due_at
        from webhook_delivery
        where webhook_id = webhook.id and state = 'pending'
          and due_at <= statement_timestamp()
        order by due_at
        limit $2
        for update skip locked
    ) as head
    where webhook.enabled and not webhook.id = any ($1::text[])
    order by head.due_at
    limit $3
), claimed as (
    update webhook_delivery
    set attempts = attempts + 1,
        due_at   = clock_timestamp() + $4::interval
    where id in (select id from due)
    returning id, webhook_id, type, body, attempts
)
select claimed.*, webhook.url, webhook.secret,
       case when webhook.secret_until > statement_timestamp()
            then webhook.previous_secret end as previous_secret,
       exists (select from token_grant
               where token_grant.token_id = webhook.url_set_by
                 and (token_grant.project is null or token_grant.project = webhook.project))
           as allowed
from claimed
join webhook on webhook.id = claimed.webhook_id

-- finish_webhook_delivery: how a try ended, unless another one has begun since
-- in     $1 id  $2 attempts: of the claim  $3 state  $4 status  $5 error  $6 duration  $7 seconds
--        until the next try
update webhook_delivery
set state      = $3,
    status     = $4::integer,
    error      = $5,
    duration_s = $6::double precision,
    due_at     = clock_timestamp() + make_interval(secs => $7::double precision),
    ended_at   = case when $3 <> 'pending' then clock_timestamp() end
where id = $1 and attempts = $2::integer and state = 'pending'

-- insert_webhook_delivery: one more delivery of a webhook
-- in     $1 id  $2 webhook_id  $3 type  $4 body  $5 redelivery_of
insert into webhook_delivery (id, webhook_id, type, body, redelivery_of)
values ($1, $2, $3, $4, $5)

-- list_webhook_deliveries: a page of the deliveries of a webhook, newest first
-- in     $1 webhook_id  $2 state; null: all  $3 id to begin after; null: from the first  $4 limit
--        $5 bytes_max
with page as (
    select *
    from webhook_delivery
    where webhook_id = $1
      and ($2::text is null or state = $2)
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

-- find_webhook_delivery: one delivery
-- in     $1 webhook_id  $2 id
select *
from webhook_delivery
where webhook_id = $1 and id = $2

-- prune_webhook_deliveries: forgets deliveries that ended long ago
-- in     $1 keep  $2 limit
delete from webhook_delivery
where id in (select id
             from webhook_delivery
             where state <> 'pending' and ended_at < statement_timestamp() - $1::interval
             order by ended_at
             limit $2)

-- prune_surplus_deliveries: of each webhook those that have ended and are not among the newest
-- in     $1 how many are kept  $2 limit
delete from webhook_delivery
where id in (select surplus.id
             from webhook
             cross join lateral (select id
                                 from webhook_delivery
                                 where webhook_id = webhook.id and state <> 'pending'
                                 order by id desc
                                 offset $1
                                 limit $2) as surplus
             limit $2)
