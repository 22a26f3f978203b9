// Several jobs side by side: their curves of each metric over step, epoch or time, and in what their specs and results differ.
import { useMemo, useState } from "preact/hooks";
import { get, query, type List } from "../api/client";
import type { Job, JobMetrics } from "../api/schema";
import type { ProjectEvent } from "../api/shared_stream";
import { Chart } from "../charts/chart";
import { ChartControls } from "../charts/chart_controls";
import { point_of, type Curve } from "../charts/curve";
import { make_view } from "../charts/view";
import { final_states } from "../format";
import { html } from "../html";
import { href, route, set_query } from "../route";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { use_refreshed } from "../parts/refreshed";
import { Differences } from "./compare_table";

const jobs_max = 100;
const points_in_all = 20000; // of a chart: fewer of each curve when there are many
const points_max = 500;
const refresh_ms = 5000; // while one of them runs

interface Shown {
  jobs: Job[];
  names: string[];
  metrics: JobMetrics[];
}

/** Curves that say how good a job is come first; without such, all. */
function chosen_of(names: string[], asked: string | null): string[] {
  if (asked) return asked.split(",");
  const validation = names.filter((name) => name.startsWith("val_"));
  return validation.length > 0 ? validation : names;
}

const metrics_path = (ids: string[], names: string[], resolution: number) => `/v1/metrics${query({ jobs: ids.join(","), names: names.join(","), resolution })}`;

async function read(ids: string[], asked: string | null): Promise<Shown> {
  if (ids.length === 0) return { jobs: [], names: [], metrics: [] };
  const [jobs, all] = await Promise.all([
    Promise.all(ids.map((id) => get<Job>(`/v1/jobs/${id}`))),
    get<{ jobs: JobMetrics[] }>(metrics_path(ids, [], 1)),
  ]);
  const names = [...new Set(all.jobs.flatMap(({ series }) => series.map(({ name }) => name)))].sort();
  const chosen = chosen_of(names, asked);
  if (chosen.length === 0) return { jobs, names, metrics: [] };
  const resolution = Math.min(points_max, Math.ceil(points_in_all / ids.length));
  const { jobs: metrics } = await get<{ jobs: JobMetrics[] }>(metrics_path(ids, chosen, resolution));
  return { jobs, names, metrics };
}

/** Names by which jobs are told apart: of those called the same, with the end of the id. */
function told_apart(jobs: Job[]): Map<string, string> {
  const count = (name: string) => jobs.filter((job) => job.name === name).length;
  return new Map(jobs.map((job) => [job.id, count(job.name) > 1 ? `${job.name} (${job.id.slice(-6)})` : job.name]));
}

function curves_of({ jobs, metrics }: Shown, metric: string): Curve[] {
  const names = told_apart(jobs);
  return jobs.map((job): Curve => {
    const series = metrics.find(({ job_id }) => job_id === job.id)?.series.find(({ name }) => name === metric);
    const { steps_total, epochs } = job.progress ?? {};
    return {
      name: names.get(job.id)!,
      points: series?.points.map(point_of) ?? [],
      steps_per_epoch: steps_total && epochs ? steps_total / epochs : undefined,
      start_ms: Date.parse(job.started_at ?? job.created_at),
    };
  });
}

function Add({ ids }: { ids: string[] }) {
  const [text, set_text] = useState("");
  const [error, set_error] = useState<unknown>();
  const add = async (event: Event) => {
    event.preventDefault();
    try {
      const wanted = text.trim();
      const id = wanted.startsWith("job_") ? wanted : (await get<List<Job>>(`/v1/jobs${query({ name: wanted, kind: "train", limit: 1 })}`)).items[0]?.id;
      if (!id) throw new Error(`No training job has "${wanted}" in its name.`);
      set_query({ jobs: [...new Set([...ids, id])].slice(0, jobs_max).join(",") }, true);
      set_text("");
      set_error(undefined);
    } catch (problem) {
      set_error(problem);
    }
  };
  return html`<form class="controls" onSubmit=${add}><label>Add a job <input type="search" value=${text} placeholder="id or part of the name"
      onInput=${(event: Event) => set_text((event.target as HTMLInputElement).value)} /></label>
    <button type="submit" disabled=${!text.trim()}>Add</button><${ErrorNote} error=${error} /></form>`;
}

function MetricChoice({ names, chosen }: { names: string[]; chosen: string[] }) {
  const toggle = (name: string) => {
    const next = names.filter((one) => (one === name ? !chosen.includes(one) : chosen.includes(one)));
    set_query({ metrics: next.join(",") || null });
  };
  return html`<fieldset class="controls"><legend>Metrics</legend>${names.map((name) => html`<label key=${name}>
    <input type="checkbox" checked=${chosen.includes(name)} onChange=${() => toggle(name)} /> ${name}</label>`)}</fieldset>`;
}

/** Says yes to progress of one of these jobs, now and then; and to all else that happens to them. */
function concerns_of(ids: string[]) {
  let last = 0;
  return ({ type, job_id }: ProjectEvent): boolean => {
    if (!job_id || !ids.includes(job_id)) return false;
    if (type === "progress" && Date.now() - last < refresh_ms) return false;
    last = Date.now();
    return true;
  };
}

export function Compare() {
  use_title("Compare");
  const { query: asked } = route.value;
  const ids = (asked.get("jobs") ?? "").split(",").filter(Boolean).slice(0, jobs_max);
  const view = useMemo(make_view, []);
  const concerns = useMemo(() => concerns_of(ids), [ids.join()]);
  const key = `compare ${ids} ${asked.get("metrics")}`;
  const ended = ({ jobs }: Shown) => jobs.every((job) => final_states.includes(job.state));
  const { value, error } = use_refreshed(key, () => read(ids, asked.get("metrics")), ended, concerns);
  const chosen = value ? chosen_of(value.names, asked.get("metrics")) : [];
  const remove = (id: string) => set_query({ jobs: ids.filter((one) => one !== id).join(",") }, true);
  return html`<main class="full">
    <nav aria-label="breadcrumb"><a href=${href("/jobs")}>Jobs</a></nav>
    <h1>Compare</h1>
    <${Add} ids=${ids} />
    <${ErrorNote} error=${error} />
    ${ids.length === 0 && html`<p>Choose jobs in the <a href=${href("/jobs")}>list</a> and press Compare, or add them here.</p>`}
    ${ids.length > 0 && !value && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${value && value.jobs.length > 0 && html`
      <${MetricChoice} names=${value.names} chosen=${chosen} />
      <${ChartControls} view=${view} />
      <div class="charts">${chosen.map((name) => html`<${Chart} key=${name} title=${name} y_title=${name} curves=${curves_of(value, name)} view=${view} revision=${value} />`)}</div>
      <h2>Differences</h2>
      <${Differences} jobs=${value.jobs} names=${told_apart(value.jobs)} metrics=${value.metrics} remove=${remove} />`}
    <${Curls} requests=${ids.length > 0 ? [{ label: "The curves", method: "GET", path: metrics_path(ids, chosen, points_max) }] : []} />
  </main>`;
}
