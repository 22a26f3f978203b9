// One dataset: what the check found, samples, statistics, splits, and the jobs that use it.
import { useState } from "preact/hooks";
import { get, query, remove, type List } from "../api/client";
import { may } from "../api/me";
import type { Dataset as DatasetObject, Job } from "../api/schema";
import { bytes, number, time } from "../format";
import { html } from "../html";
import { go, href } from "../route";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { PageState } from "../parts/page_state";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";
import { created_column, name_column, state_column } from "./jobs";
import { dataset_path, of_datasets } from "./datasets";
import { Preview } from "./dataset_preview";
import { Splits, use_splits } from "./dataset_splits";
import { Statistics } from "./dataset_statistics";

const jobs_shown = 20;
const problems_shown = 100;

const jobs_path = (id: string) => `/v1/jobs${query({ dataset: id, limit: jobs_shown })}`;

const shape_words = (shape: number[] | undefined) => (shape ? shape.join(" × ") : "–");

function size_words({ min, max }: { min: number[]; max: number[] }): string {
  return shape_words(min) === shape_words(max) ? shape_words(min) : `${shape_words(min)} to ${shape_words(max)}`;
}

function source_words({ source }: DatasetObject): string {
  if ("path" in source) return source.path;
  return source.filename ? `upload of ${source.filename}` : `upload ${source.upload}`;
}

function Facts({ dataset }: { dataset: DatasetObject }) {
  const { report } = dataset;
  const facts: [string, unknown][] = [
    ["id", html`<code>${dataset.id}</code>`],
    ["project", dataset.project],
    ["format", dataset.format],
    ["samples", number(report?.samples)],
    ["classes", number(report?.class_count)],
    ["shape of a sample", shape_words(report?.feature_shape)],
    ...(report?.image_sizes ? [["size of the images", size_words(report.image_sizes)] as [string, unknown]] : []),
    ["groups", number(report?.group_count)],
    ["size", dataset.state === "ready" ? bytes(dataset.bytes) : "–"],
    ["source", source_words(dataset)],
    ["created", time(dataset.created_at)],
    ["checked", time(dataset.checked_at)],
    ...(dataset.content_hash ? [["content", html`<code title=${dataset.content_hash}>${dataset.content_hash.slice(0, 23)}…</code>`] as [string, unknown]] : []),
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

type Problem = Record<string, any>;

const problem_columns: Column<Problem>[] = [
  { name: "file", wide: true, cell: (one) => one.file ?? "–" },
  { name: "row", cell: (one) => number(one.row) },
  { name: "field", cell: (one) => one.field ?? "–" },
  { name: "problem", wide: true, cell: (one) => one.message },
];

function Problems({ dataset, problems }: { dataset: DatasetObject; problems: Problem[] }) {
  const rows = problems.slice(0, problems_shown).map((one, index) => ({ ...one, index }));
  return html`<section><h2>Problems</h2>
    <p>The check found problems. Correct the files or the options, and create the dataset again.
      ${may("editor", dataset.project) && html` <a href=${href("/datasets/new", { again: dataset.id })}>Try again with other options</a>`}</p>
    <${Table} label="problems" columns=${problem_columns} rows=${rows} key_of=${(one: Problem) => one.index} />
    ${problems.length > problems_shown && html`<p class="hint">and ${number(problems.length - problems_shown)} more</p>`}</section>`;
}

const job_columns: Column<Job>[] = [{ ...name_column, sort: undefined }, state_column, { name: "kind", cell: (job) => job.kind }, { ...created_column, sort: undefined }];

function Jobs({ list, error, usable }: { list: List<Job> | undefined; error: unknown; usable: boolean }) {
  return html`<section><h2>Jobs that use it</h2>
    <${ErrorNote} error=${error} />
    ${list?.items.length === 0 && html`<p class="hint">${usable ? "None yet." : "None."}</p>`}
    ${list && list.items.length > 0 && html`<${Table} label="jobs of the dataset" columns=${job_columns} rows=${list.items} key_of=${(job: Job) => job.id} />`}
    ${list?.next_cursor && html`<p class="hint">These are the newest ${jobs_shown}.</p>`}</section>`;
}

export function Dataset({ id }: { id: string }) {
  const path = dataset_path({ id });
  const [refused, set_refused] = useState<unknown>();
  const { value: dataset, error } = use_refreshed(path, () => get<DatasetObject>(path), () => false, of_datasets);
  // Asked for together with the dataset: each answer that comes by itself draws the page again.
  const jobs = use_refreshed(jobs_path(id), () => get<List<Job>>(jobs_path(id)));
  const splits = use_splits(path);
  use_title(dataset ? `${dataset.name}, ${dataset.state}` : id);
  if (!dataset) return html`<${PageState} title=${`Dataset ${id}`} error=${error} back=${{ href: href("/datasets"), name: "All datasets" }} />`;
  const remove_it = () => {
    if (!confirm(`Delete the dataset ${dataset.name}? Its splits go with it, and what was uploaded; a folder of the service stays.`)) return;
    remove(path).then(() => go("/datasets"), set_refused);
  };
  const ready = dataset.state === "ready";
  return html`<main>
    <nav aria-label="breadcrumb"><a href=${href("/datasets")}>Datasets</a></nav>
    <div class="title"><h1>${dataset.name}</h1> <${State} state=${dataset.state} />
      ${may("editor", dataset.project) && dataset.state !== "failed" && html`<a href=${href("/submit", { dataset: dataset.name, project: dataset.project })}>Train on it</a>`}
      ${may("editor", dataset.project) && html`<button class="danger" onClick=${remove_it}>Delete</button>`}</div>
    <${ErrorNote} error=${refused ?? error} />
    ${dataset.state === "checking" && html`<p class="hint" role="status">The service is reading every file. Jobs that use the dataset wait until it has finished.</p>`}
    <${Facts} dataset=${dataset} />
    ${dataset.problems && html`<${Problems} dataset=${dataset} problems=${dataset.problems} />`}
    ${ready && html`<${Preview} dataset=${dataset} /><${Statistics} dataset=${dataset} /><${Splits} dataset=${dataset} read=${splits} />`}
    <${Jobs} list=${jobs.value} error=${jobs.error} usable=${dataset.state !== "failed"} />
    <details><summary>Options</summary><pre tabindex="0" aria-label="options">${JSON.stringify(dataset.options, null, 2)}</pre></details>
    <${Curls} requests=${[{ label: "Read this dataset", method: "GET", path }, { label: "Its samples", method: "GET", path: `${path}/preview?n=24` },
      { label: "Its splits", method: "GET", path: `${path}/splits` }, { label: "Its jobs", method: "GET", path: jobs_path(id) }, { label: "Delete", method: "DELETE", path }]} />
  </main>`;
}
