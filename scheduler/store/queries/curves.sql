-- Curves of any length: the database adds them up.

-- measure_curve: where a metric's points within a range of steps begin and end
-- in     $1 job_id  $2 name  $3 first step  $4 last step or null  $5 how far to count
select (select step
        from metric_point
        where job_id = $1 and name = $2 and step >= $3
          and step <= coalesce($4, 9223372036854775807)
        order by step
        limit 1) as step_first,
       (select step
        from metric_point
        where job_id = $1 and name = $2 and step >= $3
          and step <= coalesce($4, 9223372036854775807)
        order by step desc
        limit 1) as step_last,
       (select count(*)
        from (select
              from metric_point
              where job_id = $1 and name = $2 and step >= $3
                and step <= coalesce($4, 9223372036854775807)
              limit $5) as counted) as points

-- list_stretches: the next points of a metric, added up by stretch
-- in     $1 job_id  $2 name  $3 first step of the curve  $4 its last step  $5 step to begin
--        after  $6 how many points  $7 into how many stretches the whole curve is divided
-- out    stretch, points, nonfinite, min and max of the finite ones, and the last point
with chosen as (
    select step, value,
           least($7::bigint - 1,
                 floor(($7::double precision * (step::double precision - $3::bigint::double precision))
                       / ($4::bigint::double precision - $3::bigint::double precision + 1))::bigint)
               as stretch
    from metric_point
    where job_id = $1 and name = $2 and step > $5 and step <= $4::bigint
    order by step
    limit $6
), summed as (
    select stretch, max(step) as step, count(*) as points,
           count(*) filter (where not abs(value) < 'infinity') as nonfinite,
           min(value) filter (where abs(value) < 'infinity') as min,
           max(value) filter (where abs(value) < 'infinity') as max
    from chosen
    group by stretch
)
select summed.stretch, summed.points, summed.nonfinite, summed.min, summed.max, summed.step,
       last.epoch, last.value, last.attempt, last.at
from summed
cross join lateral (
    select epoch, value, attempt, at
    from metric_point
    where job_id = $1 and name = $2 and metric_point.step = summed.step
    limit 1
) as last
order by summed.step
