// One cross-validation: its metrics over the folds, their curves, and its folds.
import { address } from "../api/base";
import { get, post, type List } from "../api/client";
import { may } from "../api/me";
import type { CrossValidation as Crossed, CrossValidationFold, MetricOverFolds } from "../api/schema";
import { useState } from "preact/hooks";
import { any_value, bytes, number, sentence, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { NamedLink } from "../parts/named_link";
import { PageState } from "../parts/page_state";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";

interface Shown {
  one: Crossed;
  folds: CrossValidationFold[];
  metrics: MetricOverFolds[];
}

const ended = (state: string) => ["succeeded", "failed", "cancelled"].includes(state);

async function read(id: string): Promise<Shown> {
  const path = `/v1/cross-validations/${id}`;
  const [one, folds, summary] = await Promise.all([
    get<Crossed>(path), get<List<CrossValidationFold>>(`${path}/folds`), get<{ metrics: MetricOverFolds[] }>(`${path}/summary`)]);
  return { one, folds: folds.items, metrics: summary.metrics };
}

const metric_columns: Column<MetricOverFolds>[] = [
  { name: "metric", cell: (one) => one.name },
  { name: "folds", cell: (one) => `${one.folds}${one.nonfinite > 0 ? `, ${one.nonfinite} not finite` : ""}` },
  { name: "mean", cell: (one) => number(one.mean) },
  { name: "standard error", cell: (one) => number(one.standard_error) },
  { name: "corrected error", cell: (one) => number(one.corrected_error) },
  { name: "std", cell: (one) => number(one.std) },
  { name: "weighted mean", cell: (one) => number(one.weighted_mean) },
  { name: "range", cell: (one) => `${number(one.min)} to ${number(one.max)}` },
];

const fold_columns = (metrics: MetricOverFolds[]): Column<CrossValidationFold>[] => [
  { name: "fold", cell: (fold) => (fold.job_id ? html`<a href=${href(`/jobs/${fold.job_id}`)}>fold ${fold.fold}</a>` : `fold ${fold.fold}`) },
  { name: "state", cell: (fold) => html`<${State} state=${fold.state} /> ${fold.reason && html`<span class="hint">${fold.reason}</span>`}` },
  { name: "training", cell: (fold) => number(fold.train_samples) },
  { name: "validation", cell: (fold) => number(fold.val_samples) },
  { name: "groups", cell: (fold) => fold.counts?.val_groups ?? "–" },
  ...metrics.map(({ name }): Column<CrossValidationFold> => ({ name, cell: (fold) => number(fold.metrics?.[name]) })),
];

const hash_shown = 19; // "sha256:" and twelve digits

/** How the samples are divided: the manifest of the split is its certificate, which lists the samples of each fold. */
function Facts({ one }: { one: Crossed }) {
  const { method, ...how } = (one.spec.split ?? {}) as Record<string, unknown>;
  const facts: [string, unknown][] = [
    ["id", html`<code>${one.id}</code>`],
    ["project", one.project],
    ["dataset", html`<${NamedLink} id=${one.dataset_id} />`],
    ["split", [method, ...Object.entries(how).map(([name, value]) => `${name} ${any_value(value)}`)].filter(Boolean).join(", ") || one.split_id],
    ...(one.split_hash ? [["certificate", html`<a download=${`${one.split_id}.json`} href=${address(`/v1/datasets/${one.dataset_id}/splits/${one.split_id}/manifest`)}
      title=${`${one.split_hash}: of the manifest, which lists the samples of each fold`}><code>${one.split_hash.slice(0, hash_shown)}…</code></a>`] as [string, unknown]] : []),
    ["created", time(one.created_at)],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

export function CrossValidation({ id }: { id: string }) {
  const { value, error, again } = use_refreshed(id, () => read(id), (shown) => ended(shown.one.state));
  const [refused, set_refused] = useState<unknown>();
  use_title(value ? `${value.one.name}, ${value.one.state}` : id);
  if (!value) return html`<${PageState} title=${`Cross-validation ${id}`} error=${error} back=${{ href: href("/cross-validations"), name: "All cross-validations" }} />`;
  const { one, folds, metrics } = value;
  const path = `/v1/cross-validations/${id}`;
  const goes_on = !ended(one.state) && one.state !== "cancelling";
  const writes = may("editor", one.project);
  const cancel = () => confirm(`Cancel ${one.name}? Folds that have ended stay.`) && post(`${path}/cancel`).then(again, set_refused);
  const jobs = folds.flatMap((fold) => fold.job_id ?? []);
  return html`<main>
    <nav aria-label="breadcrumb"><a href=${href("/cross-validations")}>Cross-validations</a></nav>
    <div class="title"><h1>${one.name}</h1> <${State} state=${one.state} />
      ${goes_on && writes && html`<button class="danger" onClick=${cancel}>Cancel</button>`}
      ${jobs.length > 0 && html`<a href=${href("/compare", { jobs: jobs.slice(0, 100).join(",") })}>Curves of the folds</a>`}</div>
    <${ErrorNote} error=${refused ?? error} />
    ${one.reason && html`<p class=${one.state === "failed" ? "error" : "hint"}>${sentence(one.reason.message)}</p>`}
    <${Facts} one=${one} />
    <h2>Metrics over ${one.folds.succeeded} of ${one.folds.total ?? "–"} folds</h2>
    ${metrics.length > 0
      ? html`<${Table} label="metrics over the folds" columns=${metric_columns} rows=${metrics} key_of=${(metric: MetricOverFolds) => metric.name} />`
      : html`<p class="hint">No fold has succeeded${goes_on ? " yet" : ""}.</p>`}
    <h2>Folds</h2>
    ${folds.length > 0 ? html`<${Table} label="folds" columns=${fold_columns(metrics)} rows=${folds} key_of=${(fold: CrossValidationFold) => fold.fold} />`
      : html`<p class="hint">${goes_on ? "They are made when the samples have been divided." : "None was made."}</p>`}
    ${one.refit_job_id && html`<p>Trained on all samples: <a href=${href(`/jobs/${one.refit_job_id}`)}>the refit</a>.</p>`}
    ${one.oof && html`<p><a href=${address(`${path}/oof`)} download>Out-of-fold predictions</a> (${number(one.oof.rows)} rows, ${bytes(one.oof.bytes)})</p>`}
    <${Curls} requests=${[{ label: "Read it", method: "GET", path }, { label: "Its folds", method: "GET", path: `${path}/folds` },
      ...(one.state === "succeeded" ? [{ label: "Predict a dataset with the mean of the folds' networks", method: "POST", path: "/v1/predictions",
        body: { project: one.project, from: { cross_validation: id }, data: { dataset: "DATASET" } } }] : []),
      ...(one.oof ? [{ label: "Out-of-fold predictions", method: "GET", path: `${path}/oof` }] : []),
      ...(goes_on && writes ? [{ label: "Cancel", method: "POST", path: `${path}/cancel` }] : [])]} />
  </main>`;
}
