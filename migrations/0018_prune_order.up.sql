-- What prune.sql removes is found in the order of its age, not by reading whole tables.
create index login_ticket_expires on login_ticket (expires_at);
create index session_expires on session (expires_at);
create index upload_expires on upload (expires_at);
