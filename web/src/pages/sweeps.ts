// The list of sweeps: newest first.
import { get } from "../api/client";
import type { List } from "../api/job";
import type { Sweep } from "../api/sweep";
import { number, time } from "../format";
import { html } from "../html";
import { ErrorNote } from "../parts/error_note";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";

function Row({ sweep }: { sweep: Sweep }) {
  const ended = sweep.trials.completed + sweep.trials.stopped + sweep.trials.failed;
  return html`<tr>
    <td><a href=${`#/sweeps/${sweep.id}`}>${sweep.name}</a></td>
    <td>${sweep.spec.algorithm?.name}</td>
    <td><${State} state=${sweep.state} /></td>
    <td>${ended} of ${sweep.max_trials}</td>
    <td>${sweep.trials.running}</td>
    <td>${sweep.best ? `${sweep.spec.objective?.metric} ${number(sweep.best.value)}` : "–"}</td>
    <td>${time(sweep.created_at)}</td>
  </tr>`;
}

export function Sweeps() {
  const { value, error } = use_refreshed(() => get<List<Sweep>>("/v1/sweeps?limit=100"), () => false, []);
  const sweeps = value?.items;
  return html`<main>
    <h1>Sweeps</h1>
    <${ErrorNote} error=${error} />
    ${sweeps?.length === 0 && html`<p>No sweep yet. Start one with <code>slipway sweep create sweep.json</code>.</p>`}
    ${sweeps && sweeps.length > 0 &&
    html`<div class="scroll" tabindex="0" role="region" aria-label="sweeps"><table>
      <thead><tr>
        <th scope="col">name</th><th scope="col">algorithm</th><th scope="col">state</th><th scope="col">trials</th>
        <th scope="col">running</th><th scope="col">best</th><th scope="col">created</th>
      </tr></thead>
      <tbody>${sweeps.map((sweep) => html`<${Row} key=${sweep.id} sweep=${sweep} />`)}</tbody>
    </table></div>`}
  </main>`;
}
