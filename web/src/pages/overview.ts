// The first page: what runs, what waits, what the cores do, what came out lately, and what needs somebody.
import { get, type List } from "../api/client";
import type { Core, Host, QueueStats } from "../api/schema";
import { duration, number, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { use_title } from "../title";
import { by_host, CoreTiles } from "../parts/core_tiles";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";
import { wait_words } from "../parts/wait_reasons";
import { ended_work, job_states, running_work, work_max, type Work } from "./overview_work";

const recent_ms = 24 * 3600 * 1000;
const silent_s_max = 30;

interface Shown {
  running: Work[];
  recent: Work[];
  failed: Work[];
  stats: QueueStats;
  hosts: Host[];
  cores: Core[];
}

async function read(): Promise<Shown> {
  const [running, recent, failed, stats, hosts, cores] = await Promise.all([
    running_work(),
    ended_work("succeeded"),
    ended_work("failed", new Date(Date.now() - recent_ms).toISOString()),
    get<QueueStats>("/v1/queue/stats"),
    get<List<Host>>("/v1/hosts"),
    get<List<Core>>("/v1/cores"),
  ]);
  return { running, recent, failed, stats, hosts: hosts.items, cores: cores.items };
}

const name_column: Column<Work> = { name: "name", wide: true, head: true, cell: (work) => html`<a href=${work.link}>${work.name}</a>` };
const running_columns: Column<Work>[] = [name_column,
  { name: "state", cell: (work) => html`<${State} state=${work.state} />` },
  { name: "progress", cell: (work) => work.progress },
  { name: "left", cell: (work) => work.left }];
const recent_columns: Column<Work>[] = [name_column,
  { name: "best", cell: (work) => work.best },
  { name: "ended", cell: (work) => time(work.finished_at) }];

function Attention({ failed, hosts, cores }: Shown) {
  const lines = [
    ...hosts.filter((host) => host.silent_s > silent_s_max && !host.drain).map((host) =>
      html`<li key=${host.name}><a href=${href("/machine")}>${host.name}</a> has not reported for ${duration(host.silent_s)}: look whether it runs and can reach the database.</li>`),
    ...cores.filter((core) => core.drained && core.drain_reason).map((core) =>
      html`<li key=${`${core.host} ${core.core}`}><a href=${href("/machine")}>core ${core.core} of ${core.host}</a> is drained: ${core.drain_reason}</li>`),
    ...failed.map((work) => html`<li key=${work.id}><a href=${work.link}>${work.name}</a> ${work.state.replace("_", " ")}: ${work.reason}</li>`),
  ];
  return html`<section><h2>Needs attention</h2>
    ${lines.length === 0 ? html`<p class="hint">Nothing: no job failed in the last 24 hours, all hosts report.</p>` : html`<ul class="attention">${lines}</ul>`}
    ${failed.length >= work_max && html`<p><a href=${href("/jobs", { state: job_states.failed })}>All failed jobs</a></p>`}</section>`;
}

function Waiting({ stats }: { stats: QueueStats }) {
  const reasons = stats.by_reason.map(({ code, jobs }) => `${number(jobs)} ${wait_words(code)}`).join(", ");
  return html`<section><h2>Queue</h2>
    ${stats.jobs === 0 ? html`<p class="hint">No job waits.</p>`
      : html`<p><a href=${href("/queue")}>${number(stats.jobs)} ${stats.jobs === 1 ? "job waits" : "jobs wait"}</a>: ${reasons}.</p>`}</section>`;
}

export function Overview() {
  use_title("Overview");
  const { value, error } = use_refreshed("overview", read);
  if (!value) return html`<main class="full"><h1>Overview</h1><${ErrorNote} error=${error} />${!error && html`<p class="hint" role="status">Loading…</p>`}</main>`;
  const key_of = (work: Work) => work.id;
  return html`<main class="full">
    <h1>Overview</h1>
    <${ErrorNote} error=${error} />
    <div class="halves">
      <div><section><h2>Running</h2>
        ${value.running.length === 0 ? html`<p class="hint">Nothing runs. <code>slipway submit job.json</code> starts a job.</p>`
          : html`<${Table} label="running" columns=${running_columns} rows=${value.running} key_of=${key_of} />`}
        ${value.running.length >= work_max && html`<p><a href=${href("/jobs", { state: job_states.running })}>All running jobs</a></p>`}
      </section>
      <${Attention} ...${value} />
      <${Waiting} stats=${value.stats} /></div>
      <div><section><h2>Recent results</h2>
        ${value.recent.length === 0 ? html`<p class="hint">Nothing has succeeded yet.</p>`
          : html`<${Table} label="recent results" columns=${recent_columns} rows=${value.recent} key_of=${key_of} />`}
      </section>
        <section><h2>Cores</h2>${by_host(value.cores).map(([host, cores]) => html`<div key=${host}><p class="hint">${host}</p><${CoreTiles} cores=${cores} /></div>`)}</section></div>
    </div>
    <${Curls} requests=${[{ label: "Running jobs", method: "GET", path: `/v1/jobs?state=${job_states.running}&parent=none` }, { label: "Recent results", method: "GET", path: "/v1/jobs?state=succeeded&parent=none&order_by=-finished_at" },
      { label: "Failed jobs", method: "GET", path: `/v1/jobs?state=${job_states.failed}&parent=none&order_by=-finished_at` }, { label: "Sweeps", method: "GET", path: "/v1/sweeps?state=running" }, { label: "Cross-validations", method: "GET", path: "/v1/cross-validations?state=running" }, { label: "The queue in figures", method: "GET", path: "/v1/queue/stats" },
      { label: "Hosts", method: "GET", path: "/v1/hosts" }, { label: "Cores", method: "GET", path: "/v1/cores" }]} />
  </main>`;
}
