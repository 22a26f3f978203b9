alter table job drop column traceparent;
