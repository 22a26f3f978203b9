alter table job drop column intent;
