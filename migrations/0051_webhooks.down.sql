drop trigger webhook_note_move on job;
drop trigger webhook_note_insert on job;
drop function webhook_note();
drop function webhook_event_type(text, text, boolean, boolean);
drop table webhook_delivery;
drop table webhook_event;
drop table webhook;
