-- Of each token the newest sessions and tickets are kept; what is too many is found in their order.
drop index session_token;
create index session_token on session (token_id, created_at);
create index login_ticket_token on login_ticket (token_id, expires_at);
