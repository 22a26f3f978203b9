// The queue in its order: why each job waits, and when it is expected to start.
import { useMemo } from "preact/hooks";
import { get, query, type List } from "../api/client";
import type { Explanation, Job, QueuedJob, QueueStats } from "../api/schema";
import { duration, number, time } from "../format";
import { html } from "../html";
import { href, route } from "../route";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { now_and_then } from "../parts/now_and_then";
import { use_refreshed } from "../parts/refreshed";
import { Table, type Column } from "../parts/table";
import { TurnPages } from "../parts/turn_pages";

const page_size = 25; // each has a reason of its own, which is asked for
const pause_ms = 5000;

interface Waiting {
  place: QueuedJob;
  name: string;
  why: string;
}

interface Shown {
  waiting: Waiting[];
  stats: QueueStats;
  next_cursor: string | null;
}

const list_path = (cursor: string | null) => `/v1/queue${query({ limit: page_size, cursor })}`;

async function read_one(place: QueuedJob): Promise<Waiting> {
  // It may start or be deleted while it is asked about.
  const [job, why] = await Promise.all([
    get<Job>(`/v1/jobs/${place.job_id}`).catch(() => undefined),
    get<Explanation>(`/v1/jobs/${place.job_id}/explain`).catch(() => undefined),
  ]);
  return { place, name: job?.name ?? place.job_id, why: why?.message ?? "" };
}

async function read(cursor: string | null): Promise<Shown> {
  const [list, stats] = await Promise.all([get<List<QueuedJob>>(list_path(cursor)), get<QueueStats>("/v1/queue/stats")]);
  return { waiting: await Promise.all(list.items.map(read_one)), stats, next_cursor: list.next_cursor };
}

const certainty: Record<string, string> = {
  known: "", progress: "by what running jobs say is left", typical: "by how long jobs of the project ran lately", limit: "by limits of time", assumed: "if jobs take ten minutes each",
};

function start_of({ estimated_start_at, estimate_from, not_before }: QueuedJob) {
  if (estimated_start_at) return html`<span title=${certainty[estimate_from ?? "known"]}>${time(estimated_start_at)}</span>`;
  return not_before && Date.parse(not_before) > Date.now() ? `not before ${time(not_before)}` : "–";
}

const columns: Column<Waiting>[] = [
  { name: "place", cell: ({ place }) => place.position ?? "held" },
  { name: "job", wide: true, cell: ({ place, name }) => html`<a href=${href(`/jobs/${place.job_id}`)}>${name}</a>` },
  { name: "project", cell: ({ place }) => place.project },
  { name: "class", cell: ({ place }) => place.class },
  { name: "cores", cell: ({ place }) => (place.core_id ? `core ${place.core_id}` : place.cores) },
  { name: "waits", cell: ({ place }) => duration((Date.now() - Date.parse(place.queued_at)) / 1000) },
  { name: "expected start", cell: ({ place }) => start_of(place) },
  { name: "why it waits", wide: true, cell: ({ why }) => why },
];

function Stats({ stats }: { stats: QueueStats }) {
  const { cores } = stats;
  const recent = stats.rates[1] ?? stats.rates[0];
  const facts: [string, string][] = [
    ["jobs waiting", `${number(stats.jobs)}, ${number(stats.ready)} of them ready`],
    ["cores", `${cores.held} of ${cores.total} held${cores.drained ? `, ${cores.drained} drained` : ""}${cores.lost ? `, ${cores.lost} lost` : ""}`],
    ["started lately", recent ? `${number(recent.started)} in ${duration(recent.window_s)}` : "–"],
    ["mean wait of these", duration(recent?.wait_mean_s)],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

export function Queue() {
  use_title("Queue");
  const cursor = route.value.query.get("cursor");
  const concerns = useMemo(() => now_and_then(() => pause_ms), []);
  const { value, error } = use_refreshed(list_path(cursor), () => read(cursor), () => false, concerns);
  return html`<main class="full">
    <h1>Queue</h1>
    <${ErrorNote} error=${error} />
    ${!value && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${value && html`<${Stats} stats=${value.stats} />`}
    ${value?.waiting.length === 0 && html`<p>No job waits. A job that is submitted now starts at once if there are free cores for it.</p>`}
    ${value && value.waiting.length > 0 && html`<${Table} label="queue" columns=${columns} rows=${value.waiting} key_of=${(one: Waiting) => one.place.job_id} />`}
    <${TurnPages} next_cursor=${value?.next_cursor} />
    <${Curls} requests=${[{ label: "The queue", method: "GET", path: list_path(cursor) }, { label: "Its figures", method: "GET", path: "/v1/queue/stats" },
      ...(value?.waiting[0] ? [{ label: "Why the first one waits", method: "GET", path: `/v1/jobs/${value.waiting[0].place.job_id}/explain` }] : [])]} />
  </main>`;
}
