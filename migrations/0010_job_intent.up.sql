-- What is asked of a job's live attempt, as data: no reason code says it any more.

alter table job add column intent text;

update job
set intent = case state
                 when 'cancelling' then case when reason_code = 'killed' then 'kill' else 'cancel' end
                 when 'pausing' then 'pause'
                 else 'preempt'
             end
where state in ('cancelling', 'pausing', 'preempting');

alter table job add constraint job_intent_fits_state check (
    case state
        when 'cancelling' then coalesce(intent, '') in ('cancel', 'kill')
        when 'pausing' then coalesce(intent, '') = 'pause'
        when 'preempting' then coalesce(intent, '') = 'preempt'
        else intent is null
    end);
