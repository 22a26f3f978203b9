create or replace function counted_memory_bytes(spec jsonb) returns bigint language sql immutable as $$
    select (asked + step - 1) / step * step
    from (select (spec #>> '{accelerator,memory_bytes}')::bigint as asked) as of_spec
    cross join lateral (
        select greatest(1048576, 1::bigint << greatest(
            length(ltrim(asked::bit(64)::text, '0')) - 3, 0)) as step) as rounding
$$;
