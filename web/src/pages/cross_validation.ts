// One cross-validation: its metrics over the folds, and its folds. Refreshed every second until it ends.
import { useEffect, useState } from "preact/hooks";
import { get, post } from "../api/client";
import { ended } from "../api/cross_validation";
import type { CrossValidation as Crossed, Fold, MetricOverFolds } from "../api/cross_validation";
import { bytes, number, time } from "../format";
import { html } from "../html";
import { ErrorNote } from "../parts/error_note";
import { State } from "../parts/state";

const refresh_ms = 1000;

interface Shown {
  one: Crossed;
  folds: Fold[];
  metrics: MetricOverFolds[];
}

async function read(id: string): Promise<Shown> {
  const path = `/v1/cross-validations/${id}`;
  const [one, folds, summary] = await Promise.all([
    get<Crossed>(path), get<{ items: Fold[] }>(`${path}/folds`), get<{ metrics: MetricOverFolds[] }>(`${path}/summary`)]);
  return { one, folds: folds.items, metrics: summary.metrics };
}

function Metrics({ metrics }: { metrics: MetricOverFolds[] }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="metrics over the folds"><table>
    <thead><tr>
      <th scope="col">metric</th><th scope="col">folds</th><th scope="col">mean</th><th scope="col">standard error</th>
      <th scope="col">corrected error</th><th scope="col">std</th><th scope="col">weighted mean</th><th scope="col">range</th>
    </tr></thead>
    <tbody>${metrics.map((one) => html`<tr key=${one.name}>
      <td>${one.name}</td><td>${one.folds}${one.nonfinite > 0 && `, ${one.nonfinite} not finite`}</td><td>${number(one.mean)}</td>
      <td>${number(one.standard_error)}</td><td>${number(one.corrected_error)}</td><td>${number(one.std)}</td>
      <td>${number(one.weighted_mean)}</td><td>${number(one.min)} to ${number(one.max)}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

function Folds({ folds, names }: { folds: Fold[]; names: string[] }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="folds"><table>
    <thead><tr>
      <th scope="col">fold</th><th scope="col">state</th><th scope="col">training</th><th scope="col">validation</th><th scope="col">groups</th>
      ${names.map((name) => html`<th scope="col" key=${name}>${name}</th>`)}
    </tr></thead>
    <tbody>${folds.map((fold) => html`<tr key=${fold.fold}>
      <td>${fold.job_id ? html`<a href=${`#/jobs/${fold.job_id}`}>fold ${fold.fold}</a>` : `fold ${fold.fold}`}</td>
      <td><${State} state=${fold.state} /> ${fold.reason && html`<span class="hint">${fold.reason}</span>`}</td>
      <td>${number(fold.train_samples)}</td><td>${number(fold.val_samples)}</td>
      <td>${fold.counts?.val_groups ?? "–"}</td>
      ${names.map((name) => html`<td key=${name}>${number(fold.metrics?.[name])}</td>`)}
    </tr>`)}</tbody>
  </table></div>`;
}

export function CrossValidation({ id }: { id: string }) {
  const [shown, set_shown] = useState<Shown>();
  const [error, set_error] = useState<unknown>();

  useEffect(() => {
    let stopped = false;
    let timer = 0;
    const refresh = async () => {
      let settled = false;
      try {
        const next = await read(id);
        set_shown(next);
        set_error(undefined);
        settled = ended(next.one.state);
      } catch (problem) {
        set_error(problem);
      }
      if (!stopped && !settled) timer = window.setTimeout(refresh, refresh_ms);
    };
    refresh();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [id]);

  if (!shown) return html`<main><${ErrorNote} error=${error} /><p class="hint">Loading…</p></main>`;
  const { one, folds, metrics } = shown;
  const cancel = () => post(`/v1/cross-validations/${id}/cancel`).catch(set_error);
  return html`<main>
    <div class="title"><h1>${one.name}</h1> <${State} state=${one.state} />
      ${!ended(one.state) && one.state !== "cancelling" && html`<button onClick=${cancel}>Cancel</button>`}</div>
    <${ErrorNote} error=${error} />
    ${one.reason && html`<p>${one.reason.message}</p>`}
    <p class="hint">${one.id}, created ${time(one.created_at)}. Split ${one.split_hash?.slice(0, 19) ?? one.split_id}.</p>
    <h2>Metrics over ${one.folds.succeeded} of ${one.folds.total ?? "–"} folds</h2>
    ${metrics.length > 0 ? html`<${Metrics} metrics=${metrics} />` : html`<p class="hint">No fold has succeeded yet.</p>`}
    <h2>Folds</h2>
    <${Folds} folds=${folds} names=${metrics.map((metric) => metric.name)} />
    ${one.refit_job_id && html`<p>Trained on all samples: <a href=${`#/jobs/${one.refit_job_id}`}>the refit</a>.</p>`}
    ${one.oof && html`<p><a href=${`/v1/cross-validations/${id}/oof`} download>Out-of-fold predictions</a>
      (${number(one.oof.rows)} rows, ${bytes(one.oof.bytes)})</p>`}
  </main>`;
}
