// In what jobs differ: a row for each member of their specs that is not the same in all, and for each result.
import type { Job, JobMetrics } from "../api/schema";
import { any_value, duration, metric_value, number } from "../format";
import { html } from "../html";
import { href } from "../route";
import { State } from "../parts/state";

type Cells = unknown[];

/** Members of `value` by their dotted paths; lists and what is empty are values. */
export function flattened(value: unknown, path = "", into = new Map<string, unknown>()): Map<string, unknown> {
  if (value && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 0)
    for (const [name, member] of Object.entries(value)) flattened(member, path ? `${path}.${name}` : name, into);
  else into.set(path, value);
  return into;
}

export function differing(specs: unknown[]): { path: string; values: unknown[] }[] {
  const flat = specs.map((spec) => flattened(spec));
  const paths = [...new Set(flat.flatMap((one) => [...one.keys()]))].sort();
  return paths
    .map((path) => ({ path, values: flat.map((one) => one.get(path)) }))
    .filter(({ path, values }) => path !== "name" && new Set(values.map((value) => JSON.stringify(value))).size > 1);
}

const ran_s = (job: Job) => (job.started_at ? ((job.finished_at ? Date.parse(job.finished_at) : Date.now()) - Date.parse(job.started_at)) / 1000 : null);

function results(jobs: Job[], metrics: JobMetrics[]): [string, Cells][] {
  const last = (job: Job, name: string) => metrics.find(({ job_id }) => job_id === job.id)?.series.find((one) => one.name === name)?.points.at(-1);
  const names = [...new Set(metrics.flatMap(({ series }) => series.map(({ name }) => name)))];
  return [
    ["state", jobs.map((job) => html`<${State} state=${job.state} />`)],
    ["best", jobs.map((job) => (job.best ? `${job.best.metric} ${number(job.best.value)} at step ${number(job.best.step)}` : "–"))],
    ...names.map((name): [string, Cells] => [`last ${name}`, jobs.map((job) => {
      const point = last(job, name);
      return point ? number(metric_value(point.value, point.nonfinite)) : "–";
    })]),
    ["steps", jobs.map((job) => number(job.progress?.step))],
    ["samples/s", jobs.map((job) => number(job.progress && Math.round(job.progress.samples_per_s)))],
    ["ran", jobs.map((job) => duration(ran_s(job)))],
  ];
}

interface DifferencesProps {
  jobs: Job[];
  names: Map<string, string>;
  metrics: JobMetrics[];
  remove: (id: string) => void;
}

export function Differences({ jobs, names, metrics, remove }: DifferencesProps) {
  const specs = differing(jobs.map((job) => job.spec));
  const row = (name: string, cells: Cells) => html`<tr key=${name}><th scope="row">${name}</th>${cells.map((cell, i) => html`<td key=${jobs[i].id}>${cell}</td>`)}</tr>`;
  const group = (name: string) => html`<tr><th scope="rowgroup" colspan=${jobs.length + 1}>${name}</th></tr>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="differences"><table>
      <thead><tr><th scope="col">setting or result</th>${jobs.map((job) => html`<th scope="col" key=${job.id}><a href=${href(`/jobs/${job.id}`)}>${names.get(job.id)}</a>
        <button class="plain small" aria-label=${`Remove ${names.get(job.id)}`} onClick=${() => remove(job.id)}>✕</button></th>`)}</tr></thead>
      ${specs.length > 0 && html`<tbody>${group("Settings")}${specs.map(({ path, values }) => row(path, values.map(any_value)))}</tbody>`}
      <tbody>${group("Results")}${results(jobs, metrics).map(([name, cells]) => row(name, cells))}</tbody>
    </table></div>
    ${specs.length === 0 && jobs.length > 1 && html`<p class="hint">Their specs are the same.</p>`}`;
}
