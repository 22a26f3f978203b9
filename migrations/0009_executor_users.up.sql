-- Each project's executors run as a user of its own on every machine: this number beyond the first.
create table executor_user (
    project text primary key check (project <> ''),
    number  integer not null unique check (number between 1 and 60000)
);
