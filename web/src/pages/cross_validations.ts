// The list of cross-validations: newest first.
import { get, type List } from "../api/client";
import type { CrossValidation } from "../api/schema";
import { time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";

const path = "/v1/cross-validations?limit=100";

function fold_words({ folds }: CrossValidation): string {
  const failed = folds.failed + folds.cancelled;
  return `${folds.total === null ? "–" : `${folds.succeeded} of ${folds.total}`}${failed > 0 ? `, ${failed} failed` : ""}`;
}

const columns: Column<CrossValidation>[] = [
  { name: "name", wide: true, head: true, cell: (one) => html`<a href=${href(`/cross-validations/${one.id}`)}>${one.name}</a>` },
  { name: "state", cell: (one) => html`<${State} state=${one.state} />` },
  { name: "folds", cell: fold_words },
  { name: "split", cell: (one) => one.spec.split?.method ?? one.split_id },
  { name: "model", cell: (one) => one.spec.job?.model?.arch ?? "–" },
  { name: "created", cell: (one) => time(one.created_at) },
];

export function CrossValidations() {
  use_title("Cross-validations");
  const { value: list, error } = use_refreshed(path, async () => (await get<List<CrossValidation>>(path)).items);
  return html`<main class="full">
    <h1>Cross-validations</h1>
    <${ErrorNote} error=${error} />
    ${!list && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${list?.length === 0 && html`<p>No cross-validation yet. Create the first one:</p><pre tabindex="0" aria-label="command">slipway cv create cv.json --watch</pre>`}
    ${list && list.length > 0 && html`<${Table} label="cross-validations" columns=${columns} rows=${list} key_of=${(one: CrossValidation) => one.id} />`}
    <${Curls} requests=${[{ label: "This list", method: "GET", path }]} />
  </main>`;
}
