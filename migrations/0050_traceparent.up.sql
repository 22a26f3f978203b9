-- The trace that a job belongs to: of the request that submitted it (W3C Trace Context).
alter table job
    add column traceparent text,
    add constraint job_traceparent_check
        check (traceparent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$');
