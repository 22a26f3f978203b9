// The jobs that measure or apply what others have trained: evaluations and predictions.
import { address } from "../api/base";
import { get, type List } from "../api/client";
import type { Job } from "../api/schema";
import { html } from "../html";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { NamedLink } from "../parts/named_link";
import { use_refreshed } from "../parts/refreshed";
import { Table, type Column } from "../parts/table";
import { created_column, name_column, state_column } from "./jobs";

interface ListProps {
  title: string;
  path: string;
  command: string;
  columns: Column<Job>[];
}

const source_of = (from: Record<string, any>) =>
  from.checkpoints ? `${from.checkpoints.length} checkpoints` : html`<${NamedLink} id=${from.job} />`;

const from_column = (key: "evaluation" | "prediction"): Column<Job>[] => [
  { name: "of job", wide: true, cell: (job) => source_of(job[key]?.from ?? {}) },
  { name: "dataset", wide: true, cell: (job) => (job[key]?.data?.dataset ? html`<${NamedLink} id=${job[key].data.dataset} />` : "–") },
];

function MeasuredList({ title, path, command, columns }: ListProps) {
  use_title(title);
  const { value: jobs, error } = use_refreshed(path, async () => (await get<List<Job>>(path)).items);
  return html`<main class="full">
    <h1>${title}</h1>
    <${ErrorNote} error=${error} />
    ${!jobs && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${jobs?.length === 0 && html`<p>None yet. Start one from a checkpoint:</p><pre tabindex="0" aria-label="command">${command}</pre>`}
    ${jobs && jobs.length > 0 && html`<${Table} label=${title} columns=${columns} rows=${jobs} key_of=${(job: Job) => job.id} />`}
    <${Curls} requests=${[{ label: "This list", method: "GET", path }]} />
  </main>`;
}

const plain: Column<Job> = { ...name_column, sort: undefined };
const created: Column<Job> = { ...created_column, sort: undefined };

const of_prediction: Column<Job>[] = [plain, state_column, ...from_column("prediction"), created,
  { name: "result", cell: (job) => (job.state === "succeeded" ? html`<a download href=${address(`/v1/predictions/${job.id}/result.csv`)}>CSV</a>` : "–") }];

export function Predictions() {
  return html`<${MeasuredList} title="Predictions" path="/v1/predictions?limit=100" command="slipway predict JOB --data points" columns=${of_prediction} />`;
}

export function Evaluations() {
  return html`<${MeasuredList} title="Evaluations" path="/v1/evaluations?limit=100" command="slipway evaluate JOB"
    columns=${[plain, state_column, ...from_column("evaluation"), created]} />`;
}
