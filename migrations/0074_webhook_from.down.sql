create or replace function webhook_note_job(about job, before text) returns void
language plpgsql as $$
declare
    event_type text := webhook_event_type(before, about.state, about.attempts <= 1,
                                          about.finished_at is not null);
begin
    if event_type is null
       or not exists (select from webhook where project = about.project) then
        return;
    end if;
    insert into webhook_event (project, type, body)
    values (about.project, event_type,
            json_build_object(
                'id', 'evt_' || substr(about.id, 5) || '_' || about.event_seq,
                'type', event_type,
                'time', to_char(clock_timestamp() at time zone 'UTC',
                                'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'project', about.project,
                'job', json_build_object(
                    'id', about.id, 'name', about.name, 'kind', about.kind,
                    'labels', about.labels, 'state', about.state, 'from', before,
                    'reason', case when about.reason_code is not null then
                        json_build_object('code', about.reason_code,
                                          'message', about.reason_message)
                    end,
                    'event_seq', about.event_seq, 'attempts', about.attempts,
                    'restarts', about.restarts, 'best', about.best)));
end
$$;
