-- keep_watched: the subjects are followed for $2 seconds from now on
-- in     $1 subjects text[]  $2 seconds
with gone as (
    delete from watched
    where until < clock_timestamp() - interval '1 minute' and subject <> all ($1::text[])
)
insert into watched (subject, until)
select subject, clock_timestamp() + make_interval(secs => $2)
from (select distinct subject from unnest($1::text[]) as subject order by subject) as each
on conflict (subject) do update
set until = excluded.until
