-- The file that a dataset was made from goes when its check has ended (finish_dataset_check). Those of
-- datasets that were checked before go now.
with checked as (
    update dataset
    set upload_bytes = 0
    where state <> 'checking' and source ->> 'upload' ~ '^upl_[0-9a-hjkmnp-tv-z]{26}$'
    returning source ->> 'upload' as upload, upload_host
)
insert into garbage (path, host)
select 'uploads/' || upload, upload_host
from checked;
