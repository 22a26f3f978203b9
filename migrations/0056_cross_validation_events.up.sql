-- What happens to a cross-validation, as of a job: written with the data, numbered without gaps.
alter table cross_validation add column event_seq bigint not null default 0;

create table cross_validation_event (
    cross_validation_id text not null references cross_validation on delete cascade,
    seq                 bigint not null check (seq >= 1),
    type                text not null check (type in ('state', 'progress', 'end')),
    body                json not null,
    created_at          timestamptz not null default clock_timestamp(),
    primary key (cross_validation_id, seq)
);

create function append_cross_validation_event(of_id text, event_type text, event_body json)
returns void language sql as $$
    with numbered as (
        update cross_validation
        set event_seq = event_seq + 1
        where id = of_id
        returning id, event_seq
    )
    insert into cross_validation_event (cross_validation_id, seq, type, body)
    select id, event_seq, event_type, event_body
    from numbered
$$;

create function cross_validation_moves() returns trigger language plpgsql as $$
declare
    reason json := null;
begin
    if tg_op = 'UPDATE' and new.state = old.state then
        return null;
    end if;
    if new.reason_code is not null then
        reason := json_build_object('code', new.reason_code, 'message', new.reason_message);
    end if;
    perform append_cross_validation_event(
        new.id, 'state',
        json_build_object('state', new.state, 'from', case when tg_op = 'UPDATE' then old.state end,
                          'reason', reason));
    if new.finished_at is not null then
        perform append_cross_validation_event(
            new.id, 'end', json_build_object('state', new.state, 'reason', reason));
    end if;
    return null;
end
$$;
create trigger cross_validation_moves after insert or update of state on cross_validation
    for each row execute function cross_validation_moves();

-- Folds that wait at first are told by the state `running`.
create function cross_validation_fold_moves() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and new.state = old.state or new.state = 'waiting' then
        return null;
    end if;
    perform append_cross_validation_event(
        new.cross_validation_id, 'progress',
        json_build_object('fold', nullif(new.fold, -1), 'refit', new.fold = -1, 'state', new.state,
                          'from', case when tg_op = 'UPDATE' then old.state end,
                          'reason', new.reason, 'job_id', new.job_id));
    return null;
end
$$;
create trigger cross_validation_fold_moves after insert or update of state on cross_validation_fold
    for each row execute function cross_validation_fold_moves();
