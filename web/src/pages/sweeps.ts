// The list of sweeps: newest first.
import { get, type List } from "../api/client";
import type { Sweep } from "../api/schema";
import { number, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";

const path = "/v1/sweeps?limit=100";

const columns: Column<Sweep>[] = [
  { name: "name", wide: true, head: true, cell: (sweep) => html`<a href=${href(`/sweeps/${sweep.id}`)}>${sweep.name}</a>` },
  { name: "algorithm", cell: (sweep) => sweep.spec.algorithm?.name },
  { name: "state", cell: (sweep) => html`<${State} state=${sweep.state} />` },
  { name: "trials", cell: ({ trials, max_trials }) => `${trials.total} of ${max_trials}` },
  { name: "running", cell: (sweep) => sweep.trials.running },
  { name: "best", cell: (sweep) => (sweep.best ? `${sweep.spec.objective?.metric} ${number(sweep.best.value)}` : "–") },
  { name: "created", cell: (sweep) => time(sweep.created_at) },
];

export function Sweeps() {
  use_title("Sweeps");
  const { value: sweeps, error } = use_refreshed(path, async () => (await get<List<Sweep>>(path)).items);
  return html`<main class="full">
    <h1>Sweeps</h1>
    <${ErrorNote} error=${error} />
    ${!sweeps && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${sweeps?.length === 0 && html`<p>No sweep yet. Start one:</p><pre tabindex="0" aria-label="command">slipway sweep create sweep.json</pre>`}
    ${sweeps && sweeps.length > 0 && html`<${Table} label="sweeps" columns=${columns} rows=${sweeps} key_of=${(sweep: Sweep) => sweep.id} />`}
    <${Curls} requests=${[{ label: "This list", method: "GET", path }]} />
  </main>`;
}
