-- A fold that is tried again waits once more, and who follows its cross-validation is told.
create or replace function cross_validation_fold_moves() returns trigger
    language plpgsql
    as $$
begin
    if tg_op = 'UPDATE' and new.state = old.state or tg_op = 'INSERT' and new.state = 'waiting' then
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
