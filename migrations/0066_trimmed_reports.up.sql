-- Jobs whose programs and timeline were deleted: of trials that their sweep has passed by. Their
-- reports stay.
create table trimmed_report (
    job_id     text primary key references job on delete cascade,
    trimmed_at timestamptz not null default clock_timestamp()
);
