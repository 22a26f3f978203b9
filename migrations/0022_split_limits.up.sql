-- How many splits of a token are being made is asked with each new one.
create index split_making_token on split (created_by) where state = 'making';
