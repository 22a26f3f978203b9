// The tokens that an admin sees: making one, whose secret is shown once, and revoking.
import { useState } from "preact/hooks";
import { get, post, query, remove, type List } from "../api/client";
import { roles } from "../api/me";
import type { IssuedToken, Token } from "../api/schema";
import { time } from "../format";
import { html } from "../html";
import { href, route } from "../route";
import { use_title } from "../title";
import { CopyButton } from "../parts/copy_button";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";
import { TurnPages } from "../parts/turn_pages";
import { ChoiceValue, TextValue, same_words } from "../parts/values";

const page_size = 100;

function state_of({ revoked_at, expires_at }: Token): string {
  if (revoked_at) return "revoked";
  return expires_at && Date.parse(expires_at) <= Date.now() ? "expired" : "valid";
}

function columns_of(revoke: (token: Token) => void): Column<Token>[] {
  return [
    { name: "name", wide: true, head: true, cell: (one) => one.name },
    { name: "begins with", cell: (one) => html`<code>${one.prefix}</code>` },
    { name: "role", cell: (one) => one.role },
    { name: "member", wide: true, cell: (one) => one.member ?? "–" },
    { name: "projects", wide: true, cell: (one) => (one.projects.length === 0 ? "all" : one.projects.join(", ")) },
    { name: "state", cell: (one) => html`<${State} state=${state_of(one)} />` },
    { name: "expires", minor: true, cell: (one) => (one.expires_at ? time(one.expires_at) : "never") },
    { name: "last used", minor: true, cell: (one) => time(one.last_used_at) },
    { name: "action", cell: (one) => html`<a href=${href("/audit", { token: one.id })}>Log</a>
      ${state_of(one) === "valid" && html` <button class="danger small" aria-label=${`Revoke ${one.name}`} onClick=${() => revoke(one)}>Revoke</button>`}` },
  ];
}

function Secret({ issued, done }: { issued: IssuedToken; done: () => void }) {
  return html`<section class="card" role="region" aria-label="new token">
    <p>The secret of <strong>${issued.name}</strong> is shown only now:</p>
    <pre id="secret" tabindex="0" aria-label="secret">${issued.token}</pre>
    <p class="row"><${CopyButton} text=${issued.token} of="secret" /> <button onClick=${done}>I have it</button></p></section>`;
}

function body_of(fields: Record<string, string>) {
  const { name, role, member, projects, expires } = fields;
  const listed = projects.split(",").map((one) => one.trim()).filter(Boolean);
  return {
    name: name.trim(), role,
    ...(member.trim() ? { member: member.trim() } : {}),
    ...(listed.length > 0 ? { projects: listed } : {}),
    ...(expires ? { expires_at: new Date(expires).toISOString() } : {}),
  };
}

function NewToken({ done }: { done: () => void }) {
  const [fields, set_fields] = useState<Record<string, string>>({ name: "", role: "viewer", member: "", projects: "", expires: "" });
  const [issued, set_issued] = useState<IssuedToken>();
  const [error, set_error] = useState<unknown>();
  const body = body_of(fields);
  const set = (name: string) => (value: string) => set_fields({ ...fields, [name]: value });
  const create = (event: Event) => {
    event.preventDefault();
    set_error(undefined);
    post<IssuedToken>("/v1/tokens", body).then((token) => {
      set_issued(token);
      done();
    }, set_error);
  };
  if (issued) return html`<${Secret} issued=${issued} done=${() => set_issued(undefined)} />`;
  return html`<form class="controls" aria-label="making a token" onSubmit=${create}>
      <${TextValue} label="New token" value=${fields.name} set=${set("name")} hint="what it is for" />
      <${ChoiceValue} label="Role" value=${fields.role} set=${set("role")} choices=${same_words(roles)} />
      <${TextValue} label="Member" value=${fields.member} set=${set("member")} hint="none" />
      <${TextValue} label="Projects" value=${fields.projects} set=${set("projects")} hint="all, or a, b" />
      <${TextValue} label="Expires" value=${fields.expires} set=${set("expires")} type="datetime-local" />
      <button type="submit" disabled=${!body.name}>Create</button></form>
    <${ErrorNote} error=${error} />
    <${Curls} requests=${[{ label: "Create this token", method: "POST", path: "/v1/tokens", body }]} />`;
}

export function Tokens() {
  use_title("Tokens");
  const path = `/v1/tokens${query({ limit: page_size, cursor: route.value.query.get("cursor") })}`;
  const [refused, set_refused] = useState<unknown>();
  const { value: list, error, again } = use_refreshed(path, () => get<List<Token>>(path), () => false, () => false);
  const revoke = (token: Token) => {
    if (!confirm(`Revoke ${token.name}? It ends at once, with the tokens that it created.`)) return;
    set_refused(undefined);
    remove(`/v1/tokens/${token.id}`).then(again, set_refused);
  };
  return html`<main class="full">
    <h1>Tokens</h1>
    <${NewToken} done=${again} />
    <${ErrorNote} error=${refused ?? error} />
    ${!list && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${list && list.items.length > 0 && html`<${Table} label="tokens" columns=${columns_of(revoke)} rows=${list.items} key_of=${(one: Token) => one.id} />`}
    <${TurnPages} next_cursor=${list?.next_cursor} />
    <${Curls} of="this list" requests=${[{ label: "This list", method: "GET", path }, { label: "Revoke a token", method: "DELETE", path: `/v1/tokens/${list?.items[0]?.id ?? "tok_…"}` }]} />
  </main>`;
}
