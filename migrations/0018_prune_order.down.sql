drop index upload_expires;
drop index session_expires;
drop index login_ticket_expires;
