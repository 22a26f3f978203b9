-- A heartbeat is recent when it is neither long ago nor in the future: it may have been written
-- before the clock was set back, and a living host writes another one within seconds.

-- find_host_to_admit: a host that is known, or was removed, by its name or its home folder. One that
-- is known with this home stays, whichever other hosts of the machine were removed.
-- in     $1 name  $2 home
-- out    none: it is new
-- locks  the host
select name, removed_at, removed_at is not null as is_removed
from host
where name = $1
   or (removed_at is not null and home = $2 and home <> ''
       and not exists (select from host where name = $1 and home = $2 and removed_at is null))
order by removed_at is not null desc, name = $1 desc
limit 1
for update

-- use_join_token: one use of a token that is good for this host
-- in     $1 sha256  $2 host
-- out    id, created_by; none when it is not good
update host_join_token
set uses_left = uses_left - 1
where sha256 = $1 and uses_left > 0 and expires_at > statement_timestamp()
  and (host is null or host = $2)
  and exists (select from token
              where token.id = host_join_token.created_by and revoked_at is null
                and (token.expires_at is null or token.expires_at > statement_timestamp()))
returning id, created_by

-- readmit_host: removed hosts of this name or home folder are removed no more
-- in     $1 name  $2 home
update host
set removed_at   = null,
    removed_by   = '',
    drained      = '{}',
    drained_at   = null,
    drain_reason = '',
    drained_by   = ''
where removed_at is not null and (name = $1 or (home = $2 and home <> ''))

-- lock_host: a host that is to be removed
-- in     $1 name  $2 longest silence of a living host in seconds
-- out    takes_jobs: it is neither drained nor silent
-- locks  the host, so that no core of it is leased meanwhile
select drained_at is null
       and heartbeat_at between clock_timestamp() - make_interval(secs => $2)
                            and clock_timestamp() + make_interval(secs => $2) as takes_jobs
from host
where name = $1 and removed_at is null
for update

-- list_jobs_of_host: jobs whose attempts hold cores there
-- in     $1 host
select distinct job_id
from lease
where host = $1
order by job_id

-- remove_host: what refers to it stays, and nothing is placed there
-- in     $1 name  $2 by
update host
set removed_at = clock_timestamp(),
    removed_by = $2,
    instance   = '',
    drained_at = coalesce(drained_at, clock_timestamp())
where name = $1

-- insert_join_token: lets hosts join
-- in     $1 id  $2 sha256  $3 host or null  $4 uses  $5 created_by  $6 expires_at
insert into host_join_token (id, sha256, host, uses_left, created_by, expires_at)
values ($1, $2, $3, $4, $5, $6::timestamptz)

-- prune_join_tokens: those that ended more than a day ago
delete from host_join_token where expires_at < clock_timestamp() - interval '1 day'

-- register_host: what a machine offers, and who speaks for it
-- in     $1 name  $2 cores  $3 physical_cpus  $4 memory_bytes  $5 instance  $6 home
--        $7 longest silence of a living host in seconds  $8 job_memory_bytes  $9 pool
-- out    name; no row when another instance speaks for the host: one of another home folder that is
--        not silent. A home folder has one process at a time, so an earlier one of it has ended.
insert into host (name, cores, physical_cpus, memory_bytes, instance, home,
                  job_memory_bytes, pool)
values ($1, $2, $3, $4, $5, $6, $8, $9)
on conflict (name) do update
set cores            = excluded.cores,
    physical_cpus    = excluded.physical_cpus,
    memory_bytes     = excluded.memory_bytes,
    job_memory_bytes = excluded.job_memory_bytes,
    pool             = excluded.pool,
    instance         = excluded.instance,
    home             = excluded.home,
    heartbeat_at     = clock_timestamp()
where host.instance in ('', excluded.instance)
   or host.home = excluded.home
   or host.heartbeat_at not between clock_timestamp() - make_interval(secs => $7)
                                and clock_timestamp() + make_interval(secs => $7)
returning name

-- record_heartbeat: the heartbeat of a host
-- in     $1 name  $2 instance
-- out    no row changed when another instance speaks for it now
update host
set heartbeat_at = clock_timestamp()
where name = $1 and instance = $2 and removed_at is null

-- list_hosts: every machine
select name, pool, home, cores, physical_cpus, memory_bytes, job_memory_bytes, drained, drained_at,
       drain_reason, drained_by, heartbeat_at,
       greatest(0, extract(epoch from clock_timestamp() - heartbeat_at))::double precision
           as silent_s
from host
where removed_at is null
order by name

-- list_cores: every core and who holds it
-- in     $1 longest silence of a living host in seconds
-- out    memory_bytes: that counts for the job there; null: the share of its cores
-- `present`: without it PostgreSQL would plan the statement at each call.
with present as materialized (
    select name, pool, cores, drained, job_memory_bytes, drained_at, drain_reason, drained_by,
           heartbeat_at between clock_timestamp() - make_interval(secs => $1)
                            and clock_timestamp() + make_interval(secs => $1) as alive
    from host
    where removed_at is null
)
select host.name as host, host.pool, number as core, number = any (host.drained) as drained,
       host.alive, host.job_memory_bytes, host.drained_at, host.drain_reason, host.drained_by,
       coalesce(core_drain.reason, '') as core_drain_reason,
       lease.job_id, lease.attempt, lease.leased_at, lease.expires_at,
       counted_memory_bytes(job.spec) as memory_bytes
from present as host
cross join lateral generate_series(1, host.cores) as number
left join newest_slots() as lease on lease.host = host.name and lease.core = number
left join core_drain on core_drain.host = host.name and core_drain.core = number
-- By the index, whatever the plan that is kept has assumed of the number of jobs.
left join lateral (select spec from job where id = lease.job_id limit 1) as job on true
order by host.name, number

-- drain_core: take it out of scheduling, or back in
-- in     $1 host  $2 core  $3 drained
update host
set drained = case
                  when $3 then array(select distinct unnest(drained || $2::smallint) order by 1)
                  else array_remove(drained, $2::smallint)
              end
where name = $1 and $2 between 1 and cores and removed_at is null

-- forget_core_drain: somebody takes the core out or back: what the service knew of it is over
-- in     $1 host  $2 core
with forgotten as (
    delete from core_failure
    where host = $1 and core = $2
)
delete from core_drain
where host = $1 and core = $2

-- note_core_ends: what attempts that have ended say of the core that they had; those of several cores
-- say nothing of any one
-- in     arrays: $1 job_id  $2 attempt  $3 exit_kind
with ended as (
    select member.host, member.cores[1] as core, one.job_id, one.exit_kind
    from unnest($1::text[], $2::integer[], $3::text[]) as one (job_id, attempt, exit_kind)
    -- By the index, whatever the plan that is kept has assumed of the number of attempts.
    cross join lateral (select host, cores
                        from attempt_member
                        where job_id = one.job_id and attempt = one.attempt
                          and cardinality(cores) = 1
                        offset 0) as member
), worked as (
    delete from core_failure as failure
    using ended
    where failure.host = ended.host and failure.core = ended.core
      and ended.exit_kind in ('succeeded', 'failed', 'paused')
)
insert into core_failure (host, core, job_id)
select host, core, job_id
from ended
where exit_kind in ('crashed', 'not_started')
on conflict (host, core, job_id) do update
set at = excluded.at

-- list_failing_cores: cores on which so many jobs have crashed, one after the other and with nothing
-- that went well between, although the same work goes well elsewhere: the job itself has succeeded on
-- another core, or another job of its sweep or cross-validation has. A job that has crashed on several
-- cores says nothing of any.
-- in     $1 failures_min
-- out    usable: cores of the living hosts of the same pool that take jobs
with failing as (
    select failure.host, failure.core, host.pool, count(*) as failures,
           string_agg(failure.job_id, ', ' order by failure.at, failure.job_id) as jobs
    from core_failure as failure
    join job on job.id = failure.job_id
    join host on host.name = failure.host
    where not failure.core = any (host.drained)
      and not exists (select from core_failure as other
                      where other.job_id = failure.job_id
                        and (other.host, other.core) <> (failure.host, failure.core))
      and (job.state = 'succeeded'
           or job.parent_id is not null
              and exists (select from job as sibling
                          join attempt_member as member on member.job_id = sibling.id
                          where sibling.parent_id = job.parent_id
                            and sibling.state = 'succeeded'
                            and not (member.host = failure.host
                                     and failure.core = any (member.cores))))
    group by failure.host, failure.core, host.pool
    having count(*) >= $1
)
select failing.*,
       (select coalesce(sum(cores - cardinality(drained)), 0)
        from host
        where drained_at is null and host.pool = failing.pool
          and heartbeat_at between clock_timestamp() - interval '10 seconds'
                               and clock_timestamp() + interval '10 seconds') as usable
from failing
order by failures desc, host, core

-- put_core_drain: why a core is drained, or is not
-- in     $1 host  $2 core  $3 reason
-- out    a row when it is news
insert into core_drain (host, core, reason)
values ($1, $2, $3)
on conflict (host, core) do update
set reason     = excluded.reason,
    drained_at = excluded.drained_at
where core_drain.reason <> excluded.reason
returning core

-- drain_host: no new job on any of its cores
-- in     $1 host  $2 reason  $3 drained_by
update host
set drained_at   = coalesce(drained_at, clock_timestamp()),
    drain_reason = $2,
    drained_by   = $3
where name = $1 and removed_at is null

-- undrain_host: takes jobs again
-- in     $1 host
update host
set drained_at   = null,
    drain_reason = '',
    drained_by   = ''
where name = $1 and removed_at is null

-- list_garbage: what a host may remove now, the longest due first: its own, what hosts share, and
-- that of hosts which are gone, whose disk another host may have; nothing during a backup
-- in     $1 host  $2 limit
select id, path, tries, coalesce(host = $1, true) as own
from garbage
where (select pg_try_advisory_xact_lock_shared(hashtextextended('slipway garbage', 0)))
  and due_at <= clock_timestamp()
  and (host is null
       or host = $1
       or not exists (select from host
                      where name = garbage.host
                        and heartbeat_at between clock_timestamp() - interval '1 hour'
                                             and clock_timestamp() + interval '1 hour'))
order by due_at, id
limit $2

-- postpone_garbage: it could not be removed; later, and later each time
-- in     $1 ids bigint[]
update garbage
set tries  = tries + 1,
    due_at = clock_timestamp() + least(interval '1 hour', interval '10 seconds' * 2 ^ least(tries, 10))
where id = any ($1::bigint[])

-- forget_garbage: it has been removed
-- in     $1 ids bigint[]
delete from garbage
where id = any ($1::bigint[])

-- add_garbage_of_job: the folders of a job, on each host that has run it
-- in     $1 job_id
insert into garbage (path, host)
select kind || '/' || $1, host
from (select distinct host from attempt_member where job_id = $1) as hosts
cross join (values ('checkpoints'), ('reports'), ('runs')) as kinds (kind)
order by host, kind

-- find_executor_number: the number of a project's user
-- in     $1 project
select number
from project
where name = $1

-- lock_projects: projects are counted and get their numbers one after the other
-- locks  until the transaction ends
select pg_advisory_xact_lock(hashtextextended('slipway projects', 0))

-- count_projects: those that a token has brought into being; lock_projects ran before
-- in     $1 created_by
select count(*) as projects
from project
where created_by = $1 and created_by <> ''

-- add_executor_number: the lowest free one; lock_projects ran before
-- in     $1 project  $2 created_by, or an empty text
-- errors check violation when all are taken
insert into project (name, number, created_by)
select $1, coalesce(max(number), 0) + 1, $2
from project

-- find_store_id: of the store that hosts share
select id from shared_store

-- claim_store_id: becomes the id unless there is one
-- in     $1 id
insert into shared_store (id) values ($1)
on conflict do nothing

-- keep_store_mark: what a host has written into the store
-- in     $1 host  $2 mark
insert into host_store_mark (host, mark) values ($1, $2)
on conflict (host) do update set mark = excluded.mark

-- list_store_marks: of the hosts of other machines that send heartbeats
-- in     $1 home of this machine  $2 longest silence of a living host in seconds
select host_store_mark.host, host_store_mark.mark
from host_store_mark
join host on host.name = host_store_mark.host
where host.removed_at is null and host.home <> $1
  and host.heartbeat_at between clock_timestamp() - make_interval(secs => $2)
                            and clock_timestamp() + make_interval(secs => $2)
order by host.name
