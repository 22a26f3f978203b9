// The first page: what runs, what waits, what the cores do, what came out lately, and what needs somebody.
import { get, query, type List } from "../api/client";
import type { Core, Host, Job, QueueStats } from "../api/schema";
import { duration, number, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { use_title } from "../title";
import { by_host, CoreTiles } from "../parts/core_tiles";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { ProgressBar } from "../parts/progress_bar";
import { use_refreshed } from "../parts/refreshed";
import { Table, type Column } from "../parts/table";
import { wait_words } from "../parts/wait_reasons";
import { name_column, state_column } from "./jobs";

const shown_max = 8;
const recent_ms = 24 * 3600 * 1000;
const silent_s_max = 30;
const running_states = "starting,compiling,running,finishing,preempting,pausing,cancelling";
const failed_states = "failed,timed_out,expired";

interface Shown {
  running: Job[];
  recent: Job[];
  failed: Job[];
  stats: QueueStats;
  hosts: Host[];
  cores: Core[];
}

async function read(): Promise<Shown> {
  const jobs = (values: Record<string, string>) => get<List<Job>>(`/v1/jobs${query({ limit: shown_max, ...values })}`).then(({ items }) => items);
  const finished_after = new Date(Date.now() - recent_ms).toISOString();
  const [running, recent, failed, stats, hosts, cores] = await Promise.all([
    jobs({ state: running_states }),
    jobs({ state: "succeeded", order_by: "-finished_at" }),
    jobs({ state: failed_states, order_by: "-finished_at", finished_after }),
    get<QueueStats>("/v1/queue/stats"),
    get<List<Host>>("/v1/hosts"),
    get<List<Core>>("/v1/cores"),
  ]);
  return { running, recent, failed, stats, hosts: hosts.items, cores: cores.items };
}

const plain_name: Column<Job> = { ...name_column, sort: undefined };
const running_columns: Column<Job>[] = [plain_name, state_column,
  { name: "progress", cell: (job) => html`<${ProgressBar} job=${job} />` },
  { name: "left", cell: (job) => (job.state === "running" ? duration(job.progress?.eta_s) : "–") }];
const recent_columns: Column<Job>[] = [plain_name,
  { name: "best", cell: (job) => (job.best ? `${job.best.metric} ${number(job.best.value)}` : "–") },
  { name: "ended", cell: (job) => time(job.finished_at) }];

function Attention({ failed, hosts, cores }: Shown) {
  const lines = [
    ...hosts.filter((host) => host.silent_s > silent_s_max && !host.drain).map((host) =>
      html`<li key=${host.name}><a href=${href("/machine")}>${host.name}</a> has not reported for ${duration(host.silent_s)}: look whether it runs and can reach the database.</li>`),
    ...cores.filter((core) => core.drained && core.drain_reason).map((core) =>
      html`<li key=${`${core.host} ${core.core}`}><a href=${href("/machine")}>core ${core.core} of ${core.host}</a> is drained: ${core.drain_reason}</li>`),
    ...failed.map((job) => html`<li key=${job.id}><a href=${href(`/jobs/${job.id}`)}>${job.name}</a> ${job.state.replace("_", " ")}: ${job.reason?.message ?? ""}</li>`),
  ];
  return html`<section><h2>Needs attention</h2>
    ${lines.length === 0 ? html`<p class="hint">Nothing: no job failed in the last 24 hours, all hosts report.</p>` : html`<ul class="attention">${lines}</ul>`}
    ${failed.length >= shown_max && html`<p><a href=${href("/jobs", { state: failed_states })}>All failed jobs</a></p>`}</section>`;
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
  const key_of = (job: Job) => job.id;
  return html`<main class="full">
    <h1>Overview</h1>
    <${ErrorNote} error=${error} />
    <div class="halves">
      <div><section><h2>Running</h2>
        ${value.running.length === 0 ? html`<p class="hint">Nothing runs. <code>slipway submit job.json</code> starts a job.</p>`
          : html`<${Table} label="running jobs" columns=${running_columns} rows=${value.running} key_of=${key_of} />`}
        ${value.running.length >= shown_max && html`<p><a href=${href("/jobs", { state: running_states })}>All running jobs</a></p>`}
      </section>
      <${Attention} ...${value} />
      <${Waiting} stats=${value.stats} /></div>
      <div><section><h2>Recent results</h2>
        ${value.recent.length === 0 ? html`<p class="hint">No job has succeeded yet.</p>`
          : html`<${Table} label="recent results" columns=${recent_columns} rows=${value.recent} key_of=${key_of} />`}
      </section>
        <section><h2>Cores</h2>${by_host(value.cores).map(([host, cores]) => html`<div key=${host}><p class="hint">${host}</p><${CoreTiles} cores=${cores} /></div>`)}</section></div>
    </div>
    <${Curls} requests=${[{ label: "Running jobs", method: "GET", path: `/v1/jobs?state=${running_states}` }, { label: "Recent results", method: "GET", path: "/v1/jobs?state=succeeded&order_by=-finished_at" },
      { label: "Failed jobs", method: "GET", path: `/v1/jobs?state=${failed_states}&order_by=-finished_at` }, { label: "The queue in figures", method: "GET", path: "/v1/queue/stats" },
      { label: "Hosts", method: "GET", path: "/v1/hosts" }, { label: "Cores", method: "GET", path: "/v1/cores" }]} />
  </main>`;
}
