-- What PATCH changes of a webhook. It depends on the token that set its URL, so that nobody leaves
-- an ear behind when their token is revoked; a rotated secret signs beside the new one for a while.
alter table webhook
    add column description     text not null default '' check (length(description) <= 500),
    add column enabled         boolean not null default true,
    add column url_set_by      text,
    add column previous_secret text check (previous_secret ~ '^whsec_'),
    add column secret_until    timestamptz,
    add column version         bigint not null default 1,
    add constraint webhook_previous_secret
        check ((previous_secret is null) = (secret_until is null));
update webhook set url_set_by = created_by;
alter table webhook alter column url_set_by set not null;
