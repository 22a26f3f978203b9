-- A webhook that is off would send again: it goes.
delete from webhook where not enabled;
alter table webhook
    drop constraint webhook_previous_secret,
    drop column description,
    drop column enabled,
    drop column url_set_by,
    drop column previous_secret,
    drop column secret_until,
    drop column version;
