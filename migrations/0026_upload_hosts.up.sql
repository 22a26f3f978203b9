-- Which host has received the file of an upload, so that this one removes it; null: from before, or
-- not known. A dataset that is made from it remembers.
alter table upload add column host text;
alter table dataset add column upload_host text;
