// One sweep: where it stands, its best trial, and a table of its trials, the best first.
import { get } from "../api/client";
import type { List } from "../api/job";
import { sweep_ends, type Sweep as SweepAnswer, type Trial } from "../api/sweep";
import { number, time } from "../format";
import { html } from "../html";
import { ErrorNote } from "../parts/error_note";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";

interface Shown { sweep: SweepAnswer; best: Trial[]; others: Trial[] }

async function read(id: string): Promise<Shown> {
  const [sweep, best, all] = await Promise.all([
    get<SweepAnswer>(`/v1/sweeps/${id}`),
    get<List<Trial>>(`/v1/sweeps/${id}/trials?order_by=best&limit=200`),
    get<List<Trial>>(`/v1/sweeps/${id}/trials?limit=200`),
  ]);
  const listed = new Set(best.items.map((trial) => trial.number));
  return { sweep, best: best.items, others: all.items.filter((trial) => !listed.has(trial.number)) };
}

const value_text = (value: unknown) => (typeof value === "number" ? number(value) : String(value));

function Row({ trial, paths }: { trial: Trial; paths: string[] }) {
  return html`<tr>
    <td>${trial.job_id ? html`<a href=${`#/jobs/${trial.job_id}`}>${trial.number}</a>` : trial.number}</td>
    <td><${State} state=${trial.state} /></td>
    <td>${trial.value === null ? "–" : number(trial.value)}</td>
    <td>${trial.last_time ?? "–"}</td>
    ${paths.map((path) => html`<td>${path in trial.point ? value_text(trial.point[path]) : "–"}</td>`)}
    <td>${trial.reason ?? ""}</td>
  </tr>`;
}

function Trials({ shown }: { shown: Shown }) {
  const trials = [...shown.best, ...shown.others];
  const paths = Object.keys(shown.sweep.spec.space ?? {});
  return html`<div class="scroll" tabindex="0" role="region" aria-label="trials"><table>
    <thead><tr>
      <th scope="col">trial</th><th scope="col">state</th><th scope="col">${shown.sweep.spec.objective?.metric}</th>
      <th scope="col">${shown.sweep.spec.algorithm?.time_attr ?? "epoch"}</th>
      ${paths.map((path) => html`<th scope="col">${path}</th>`)}
      <th scope="col">last decision</th>
    </tr></thead>
    <tbody>${trials.map((trial) => html`<${Row} key=${trial.number} trial=${trial} paths=${paths} />`)}</tbody>
  </table></div>`;
}

export function Sweep({ id }: { id: string }) {
  const { value, error } = use_refreshed(() => read(id), (shown) => sweep_ends.includes(shown.sweep.state), [id]);
  const sweep = value?.sweep;
  return html`<main>
    <p><a href="#/sweeps">Sweeps</a></p>
    <h1>${sweep?.name ?? id}</h1>
    <${ErrorNote} error=${error} />
    ${sweep && html`
      <p><${State} state=${sweep.state} /> ${sweep.reason?.message ?? ""}</p>
      <p>${sweep.spec.algorithm?.name}, ${sweep.trials.total} of ${sweep.max_trials} trials: ${sweep.trials.running} running,
        ${sweep.trials.paused} paused, ${sweep.trials.completed} completed, ${sweep.trials.stopped} stopped,
        ${sweep.trials.failed} failed. ${number(sweep.core_s ?? 0)} core-seconds. Created ${time(sweep.created_at)}.</p>
      ${sweep.best && html`<p>Best: trial ${sweep.best.trial} with ${sweep.spec.objective?.metric} ${number(sweep.best.value)}.</p>`}
      <${Trials} shown=${value} />`}
  </main>`;
}
