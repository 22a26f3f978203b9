drop table trimmed_report;
