// The queue in its order: why each job waits, and when it is expected to start.
import { useMemo } from "preact/hooks";
import { get, query, type List } from "../api/client";
import { may } from "../api/me";
import type { Explanation, QueuedJob, QueueStats } from "../api/schema";
import { duration, number, sentence, time } from "../format";
import { html } from "../html";
import { href, route } from "../route";
import { use_title } from "../title";
import { certainty } from "../parts/certainty";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { now_and_then } from "../parts/now_and_then";
import { use_refreshed } from "../parts/refreshed";
import { Table, type Column } from "../parts/table";
import { TurnPages } from "../parts/turn_pages";
import { WhatIf } from "./queue_what_if";

const page_size = 10; // each has a reason of its own, which is asked for
const pause_ms = 5000;
const asked_max = 200;

interface Waiting {
  place: QueuedJob;
  why: string;
}

interface Shown {
  waiting: Waiting[];
  stats: QueueStats;
  next_cursor: string | null;
}

const list_path = (cursor: string | null) => `/v1/queue${query({ limit: page_size, cursor })}`;

interface Answer {
  why: string;
  until_ms: number; // then the reason is asked for again
}

const answers = new Map<string, Answer>(); // the page is read twice when it opens: with the stream once more

async function reason_of(job_id: string): Promise<string> {
  const before = answers.get(job_id);
  if (before && before.until_ms > Date.now()) return before.why;
  // It may start or be deleted while it is asked about.
  const why = await get<Explanation>(`/v1/jobs/${job_id}/explain`).then(({ message }) => message ?? "").catch(() => "");
  answers.delete(job_id);
  answers.set(job_id, { why, until_ms: Date.now() + pause_ms });
  if (answers.size > asked_max) answers.delete(answers.keys().next().value!);
  return why;
}

const read_one = async (place: QueuedJob): Promise<Waiting> => ({ place, why: await reason_of(place.job_id) });

async function read(cursor: string | null): Promise<Shown> {
  const [list, stats] = await Promise.all([get<List<QueuedJob>>(list_path(cursor)), get<QueueStats>("/v1/queue/stats")]);
  return { waiting: await Promise.all(list.items.map(read_one)), stats, next_cursor: list.next_cursor };
}

function start_of({ estimated_start_at, estimate_from, not_before }: QueuedJob) {
  if (estimated_start_at) return html`<span title=${certainty[estimate_from ?? "known"]}>${time(estimated_start_at)}</span>`;
  return not_before && Date.parse(not_before) > Date.now() ? `not before ${time(not_before)}` : "–";
}

const pool_column: Column<Waiting> = { name: "pool", title: "Hosts that the job may run on", cell: ({ place }) => place.pool ?? "any" };

const columns: Column<Waiting>[] = [
  { name: "place", cell: ({ place }) => place.position ?? "held" },
  { name: "job", wide: true, cell: ({ place }) => html`<a href=${href(`/jobs/${place.job_id}`)}>${place.name}</a>` },
  { name: "project", cell: ({ place }) => place.project },
  { name: "class", cell: ({ place }) => place.class },
  { name: "cores", cell: ({ place }) => (place.core_id ? `core ${place.core_id}` : place.cores) },
  { name: "waits", cell: ({ place }) => duration((Date.now() - Date.parse(place.queued_at)) / 1000) },
  { name: "expected start", cell: ({ place }) => start_of(place) },
  { name: "why it waits", wide: true, cell: ({ why }) => sentence(why) },
];

// Where all hosts are of one pool, it tells nothing.
const columns_for = ({ pools }: QueueStats) => (pools.length > 1 ? [...columns.slice(0, 5), pool_column, ...columns.slice(5)] : columns);

function Stats({ stats }: { stats: QueueStats }) {
  const { cores } = stats;
  const recent = stats.rates[1] ?? stats.rates[0];
  const facts: [string, string][] = [
    ["jobs waiting", stats.jobs === 0 ? "none" : `${number(stats.jobs)}, ${number(stats.ready)} of them ready`],
    ["cores", `${cores.held} of ${cores.total} held${cores.drained ? `, ${cores.drained} drained` : ""}${cores.lost ? `, ${cores.lost} lost` : ""}`],
    ["started lately", recent ? `${number(recent.started)} in ${duration(recent.window_s)}` : "–"],
    ["mean wait of these", duration(recent?.wait_mean_s)],
    ...(stats.pools.length > 1 ? stats.pools.map(({ pool, cores, ready }): [string, string] =>
      [`pool ${pool}`, `${cores.held} of ${cores.total} cores held, ${number(ready)} ready jobs wait for it`]) : []),
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
    ${value && value.waiting.length > 0 && html`<${Table} label="queue" columns=${columns_for(value.stats)} rows=${value.waiting} key_of=${(one: Waiting) => one.place.job_id} />`}
    <${TurnPages} next_cursor=${value?.next_cursor} />
    ${value && may("editor") && html`<${WhatIf} waiting=${value.waiting.map(({ place }) => place)} />`}
    <${Curls} requests=${[{ label: "The queue", method: "GET", path: list_path(cursor) }, { label: "Its figures", method: "GET", path: "/v1/queue/stats" },
      ...(value?.waiting[0] ? [{ label: "Why the first one waits", method: "GET", path: `/v1/jobs/${value.waiting[0].place.job_id}/explain` }] : [])]} />
  </main>`;
}
