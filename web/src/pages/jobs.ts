// The jobs: searched, filtered, ordered and by pages, as the address says; kept true by the stream of events.
import { useState } from "preact/hooks";
import type { Job } from "../api/schema";
import { address } from "../api/base";
import { may } from "../api/me";
import { number, time } from "../format";
import { html } from "../html";
import { href, route, set_query } from "../route";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { ProgressBar } from "../parts/progress_bar";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";
import { JobBulkBar } from "./job_bulk";
import { JobFilters } from "./job_filters";
import { use_job_list } from "./job_list";
import { by_metric, default_order, is_filtered, job_query, list_path, type JobQuery } from "./job_query";

export function cores_of({ spec }: Job): string {
  const asked = spec.accelerator ?? {};
  return asked.core_ids ? `core ${asked.core_ids.join(", ")}` : String(asked.slice?.cores ?? asked.cores ?? 1);
}

export const name_column: Column<Job> = { name: "name", sort: "name", wide: true, head: true, cell: (job) => html`<a href=${href(`/jobs/${job.id}`)}>${job.name}</a>` };
export const state_column: Column<Job> = { name: "state", cell: (job) => html`<${State} state=${job.state} />` };
export const created_column: Column<Job> = { name: "created", sort: "created_at", cell: (job) => time(job.created_at) };

function columns_of(asked: JobQuery): Column<Job>[] {
  const ordered: Column<Job>[] = by_metric(asked)
    ? [{ name: asked.metric || "val_loss", title: "Order of the jobs", sort: asked.order_by.replace("-", ""), cell: (job) => number(job.order_value) }]
    : [{ name: "best", sort: "best", cell: (job) => (job.best ? `${job.best.metric} ${number(job.best.value)}` : "–") }];
  return [
    name_column,
    state_column,
    { name: "progress", cell: (job) => html`<${ProgressBar} job=${job} />` },
    ...ordered,
    { name: "kind", minor: true, cell: (job) => job.kind },
    { name: "model", minor: true, cell: (job) => job.spec.model?.arch ?? "–" },
    { name: "cores", minor: true, cell: cores_of },
    created_column,
    { name: "ended", minor: true, sort: "finished_at", cell: (job) => time(job.finished_at) },
  ];
}

function chooser(chosen: ReadonlySet<string>, toggle: (id: string) => void): Column<Job> {
  return { name: "choose", choose: true, cell: (job) => html`<input type="checkbox" aria-label=${`Choose ${job.name}`} checked=${chosen.has(job.id)} onChange=${() => toggle(job.id)} />` };
}

function NoJobs({ asked }: { asked: JobQuery }) {
  if (by_metric(asked)) return html`<p>No job has a value of <code>${asked.metric || "val_loss"}</code>${is_filtered(asked) ? " among those that the filters leave" : ""}.</p>`;
  if (is_filtered(asked)) return html`<p>No job matches. Clear a filter to see more.</p>`;
  return html`<p>No job yet. <a href=${href("/submit")}>Submit the first one</a>, or with the command line:</p>
    <pre tabindex="0" aria-label="command">slipway submit job.json --follow</pre>
    <p>or over HTTP:</p>
    <pre tabindex="0" aria-label="curl">${`curl -sS -H "Authorization: Bearer $SLIPWAY_TOKEN" -H 'Content-Type: application/json' \\
  ${location.origin}${address("/v1/jobs")} -d @job.json`}</pre>`;
}

function Pages({ asked, next_cursor }: { asked: JobQuery; next_cursor?: string | null }) {
  if (!asked.cursor && !next_cursor) return null;
  const turn = (cursor: string | null) => {
    set_query({ cursor }, true);
    scrollTo(0, 0);
  };
  return html`<nav class="row" aria-label="pages">
    ${asked.cursor && html`<button onClick=${() => turn(null)}>First page</button>`}
    ${next_cursor && html`<button onClick=${() => turn(next_cursor)}>Next page</button>`}</nav>`;
}

export function Jobs() {
  const asked = job_query(route.value.query);
  const { jobs, next_cursor, error, again } = use_job_list(asked);
  const [chosen, set_chosen] = useState<ReadonlySet<string>>(new Set());
  use_title("Jobs");
  const writes = may("editor");
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    set_chosen(next);
  };
  const order = (order_by: string) =>
    set_query({ order_by: order_by === default_order ? null : order_by, metric: /best|last/.test(order_by) ? asked.metric || "val_loss" : null, cursor: null });
  const choose_all = () => set_chosen(new Set(jobs?.every((job) => chosen.has(job.id)) ? [] : jobs?.map((job) => job.id)));
  return html`<main class="full">
    <div class="title"><h1>Jobs</h1>${writes && html`<a href=${href("/submit")}>New job</a>`}</div>
    <${JobFilters} asked=${asked} />
    <${ErrorNote} error=${error} />
    <${JobBulkBar} ids=${[...chosen]} clear=${() => set_chosen(new Set())} done=${again} />
    ${!jobs && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${jobs?.length === 0 && html`<${NoJobs} asked=${asked} />`}
    ${jobs && jobs.length > 0 && html`${writes && html`<p class="row"><button onClick=${choose_all}>Choose all of this page</button></p>`}
      <${Table} label="jobs" columns=${[chooser(chosen, toggle), ...columns_of(asked)]} rows=${jobs} key_of=${(job: Job) => job.id}
        sorting=${{ order_by: asked.order_by, set: order }} />`}
    <${Pages} asked=${asked} next_cursor=${next_cursor} />
    <${Curls} requests=${[{ label: "This list", method: "GET", path: list_path(asked) }]} />
  </main>`;
}
