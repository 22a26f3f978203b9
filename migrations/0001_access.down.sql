drop table garbage;
drop table audit;
drop table idempotency;
drop table session;
drop table login_ticket;
drop table token;
