drop table dataset;
drop table upload;
