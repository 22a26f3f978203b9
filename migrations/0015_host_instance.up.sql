-- Which process is the agent of a host, and of which home folder: two may not be one host.

alter table host add column instance text not null default '';
alter table host add column home text not null default '';
