alter table checkpoint drop column written_by;
