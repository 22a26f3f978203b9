create table metric_point (
    job_id  text not null,
    name    text not null check (name <> ''),
    step    bigint not null,
    epoch   bigint not null,
    value   double precision not null,
    attempt integer not null,
    at      timestamptz default clock_timestamp() not null,
    primary key (job_id, name, step)
);

-- The next number of 7 bits a byte, least significant first, at `place`.
create function read_varint(data bytea, inout place integer, out number bigint)
    language plpgsql as $$
declare
    shift integer := 0;
    next  integer;
begin
    number := 0;
    loop
        next := get_byte(data, place);
        number := number | ((next & 127)::bigint << shift);
        place := place + 1;
        shift := shift + 7;
        exit when next < 128;
    end loop;
end
$$;

-- A column of `length` numbers: runs of equal differences.
create function read_runs(data bytea, length bigint, inout place integer, out numbers bigint[])
    language plpgsql as $$
declare
    number     bigint := 0;
    difference bigint;
    run        bigint;
begin
    numbers := '{}';
    while cardinality(numbers) < length loop
        select * into place, difference from read_varint(data, place);
        select * into place, run from read_varint(data, place);
        -- As unsigned numbers: >> keeps the sign.
        difference := ((difference >> 1) & 9223372036854775807) # -(difference & 1);
        for i in 1 .. run loop
            number := number + difference;
            numbers := numbers || number;
        end loop;
    end loop;
end
$$;

-- The number whose IEEE 754 bits these are.
create function read_float(data bytea, place integer, bytes integer)
    returns double precision language plpgsql as $$
declare
    bits          bigint := 0;
    fraction_bits integer := case bytes when 8 then 52 else 23 end;
    exponent_bits integer := case bytes when 8 then 11 else 8 end;
    sign          double precision;
    exponent      integer;
    fraction      bigint;
    exponent_max  integer;
begin
    for i in 0 .. bytes - 1 loop
        bits := (bits << 8) | get_byte(data, place + i);
    end loop;
    sign := case when (bits >> (8 * bytes - 1)) & 1 = 1 then -1 else 1 end;
    exponent_max := (1 << exponent_bits) - 1;
    exponent := (bits >> fraction_bits) & exponent_max;
    fraction := bits & ((1::bigint << fraction_bits) - 1);
    if exponent = exponent_max then
        return case when fraction > 0 then 'nan'::double precision
                    else sign * 'infinity'::double precision end;
    end if;
    if exponent = 0 then
        exponent := 1;
    else
        fraction := fraction | (1::bigint << fraction_bits);
    end if;
    exponent := exponent - exponent_max / 2 - fraction_bits;
    -- In two steps: 2 to the power of -1074 is none.
    return sign * fraction * power(2::double precision, exponent / 2)
           * power(2::double precision, exponent - exponent / 2);
end
$$;

create function read_points(chunk metric_chunk)
    returns table (step bigint, epoch bigint, value double precision, attempt bigint,
                   at timestamptz)
    language plpgsql as $$
declare
    place    integer := 1;
    number   bigint;
    steps    bigint[];
    epochs   bigint[];
    attempts bigint[];
    times    bigint[];
    bytes    integer;
    data     bytea := chunk.data;
begin
    if get_byte(data, 0) = 0 then
        return query
        select ('x' || encode(substr(data, 2 + 36 * i, 8), 'hex'))::bit(64)::bigint,
               ('x' || encode(substr(data, 10 + 36 * i, 8), 'hex'))::bit(64)::bigint,
               read_float(data, 17 + 36 * i, 8),
               ('x' || encode(substr(data, 26 + 36 * i, 4), 'hex'))::bit(32)::integer::bigint,
               'epoch'::timestamptz
               + ('x' || encode(substr(data, 30 + 36 * i, 8), 'hex'))::bit(64)::bigint
                 * interval '1 microsecond'
        from generate_series(0, chunk.points - 1) as i;
        return;
    end if;
    select * into place, number from read_varint(data, place);
    select * into place, steps from read_runs(data, number, place);
    select * into place, epochs from read_runs(data, number, place);
    select * into place, attempts from read_runs(data, number, place);
    select * into place, times from read_runs(data, number, place);
    bytes := get_byte(data, place);
    return query
    select steps[i], epochs[i], read_float(data, place + 1 + bytes * (i - 1), bytes), attempts[i],
           'epoch'::timestamptz + times[i] * interval '1 millisecond'
    from generate_series(1, chunk.points) as i;
end
$$;

insert into metric_point (job_id, name, step, epoch, value, attempt, at)
select chunk.job_id, chunk.name, point.step, point.epoch, point.value, point.attempt, point.at
from metric_chunk as chunk
cross join lateral read_points(chunk) as point;

drop function read_points;
drop function read_float;
drop function read_runs;
drop function read_varint;
drop table metric_rollup;
drop table metric_chunk;

create trigger metric_point_of_job after insert on metric_point
    referencing new table as added
    for each statement execute function job_is_there();
