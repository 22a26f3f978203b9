drop table split;
alter table dataset drop column preview;
