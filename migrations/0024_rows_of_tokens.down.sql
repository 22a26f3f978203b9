drop index login_ticket_token;
drop index session_token;
create index session_token on session (token_id);
