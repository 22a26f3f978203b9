// The audit log: who changed what, the newest first, narrowed by action, token and object.
import { ApiError, get, query, type List } from "../api/client";
import type { AuditEntry, Token } from "../api/schema";
import { time } from "../format";
import { html } from "../html";
import { href, route, set_query } from "../route";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { TextFilter } from "../parts/filters";
import { use_refreshed } from "../parts/refreshed";
import { Table, type Column } from "../parts/table";
import { TurnPages } from "../parts/turn_pages";

const page_size = 50;
const tokens_path = "/v1/tokens?limit=200"; // for the names of the newest ones

const places: [RegExp, string][] = [[/^job_/, "/jobs/"], [/^ds_/, "/datasets/"], [/^swp_/, "/sweeps/"], [/^cv_/, "/cross-validations/"]];

function object_cell({ object }: AuditEntry) {
  const place = places.find(([pattern]) => pattern.test(object ?? ""));
  return place ? html`<a href=${href(place[1] + object)}>${object}</a>` : object ?? "–";
}

/** `names` of tokens by their ids: a token that is not among them is shown by its id. */
const columns_of = (names: ReadonlyMap<string, string>): Column<AuditEntry>[] => [
  { name: "time", cell: (one) => time(one.at) },
  { name: "action", cell: (one) => one.action.replaceAll("_", " ") },
  { name: "on", cell: object_cell },
  { name: "token", cell: (one) => (one.token_id ? html`<a title=${one.token_id} href=${href("/audit", { token: one.token_id })}>${names.get(one.token_id) ?? one.token_id}</a>` : "unknown") },
  { name: "more", wide: true, cell: (one) => (Object.keys(one.detail ?? {}).length > 0 ? html`<code>${JSON.stringify(one.detail)}</code>` : "–") },
  { name: "request", minor: true, cell: (one) => one.request_id ?? "–" },
];

export function Audit() {
  use_title("Audit log");
  const { query: asked } = route.value;
  const text = (name: string) => asked.get(name) ?? "";
  const path = `/v1/audit${query({ limit: page_size, action: text("action"), token: text("token"), object: text("object"), cursor: text("cursor") })}`;
  const { value: list, error } = use_refreshed(path, () => get<List<AuditEntry>>(path));
  const { value: tokens } = use_refreshed(tokens_path, () => get<List<Token>>(tokens_path), () => true);
  const names = new Map(tokens?.items.map(({ id, name }) => [id, name]));
  const refused = error instanceof ApiError && error.problem.status === 403;
  const set = (name: string) => (value: string) => set_query({ [name]: value, cursor: null });
  return html`<main class="full">
    <h1>Audit log</h1>
    ${!refused && html`<form class="controls" role="search" aria-label="audit log" onSubmit=${(event: Event) => event.preventDefault()}>
      <${TextFilter} label="Action" value=${text("action")} set=${set("action")} hint="create_job" />
      <${TextFilter} label="Token" value=${text("token")} set=${set("token")} hint="tok_…" />
      <${TextFilter} label="Object" value=${text("object")} set=${set("object")} hint="id or name" />
    </form>`}
    <${ErrorNote} error=${error} />
    ${!list && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${list?.items.length === 0 && html`<p>No entry matches.</p>`}
    ${list && list.items.length > 0 && html`<${Table} label="audit log" columns=${columns_of(names)} rows=${list.items} key_of=${(one: AuditEntry) => one.id} />`}
    <${TurnPages} next_cursor=${list?.next_cursor} />
    <${Curls} requests=${[{ label: "This list", method: "GET", path }]} />
  </main>`;
}
