// Hosts and their cores: what each does, why one is drained, and taking them out of service and back.
import { useState } from "preact/hooks";
import { get, post, query, type List } from "../api/client";
import { is_admin_of_all } from "../api/me";
import type { Core, Host, Slice } from "../api/schema";
import { bytes, duration, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { use_title } from "../title";
import { by_host, CoreTiles } from "../parts/core_tiles";
import { Curls, type Request } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { NamedLink } from "../parts/named_link";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";
import { CoreTimeline } from "./core_timeline";

type Act = (path: string, question?: string) => void;

const host_path = (host: Host, verb: string) => `/v1/hosts/${encodeURIComponent(host.name)}/${verb}`;
const core_path = (core: Core, verb: string) => `/v1/cores/${core.core}/${verb}${query({ host: core.host })}`;

function host_columns(act: Act): Column<Host>[] {
  return [
    { name: "host", wide: true, head: true, cell: (host) => host.name },
    { name: "pool", title: "Jobs may name it as queue.pool", cell: (host) => host.pool },
    { name: "cores", cell: (host) => `${host.cores} virtual, ${host.physical_cpus} CPUs` },
    { name: "memory", cell: (host) => bytes(host.memory_bytes) },
    { name: "last report", title: "Time since its agent last reported", cell: (host) => `${duration(host.silent_s)} ago` },
    { name: "state", cell: (host) => (host.drain ? "drained" : "in service") },
    ...(is_admin_of_all() ? [{ name: "action", cell: (host: Host) => host.drain
      ? html`<button class="small" aria-label=${`Undrain ${host.name}`} onClick=${() => act(host_path(host, "undrain"))}>Undrain</button>`
      : html`<button class="danger small" aria-label=${`Drain ${host.name}`} onClick=${() => act(host_path(host, "drain"),
          `Drain ${host.name}? No new job starts there; jobs that run there save and move.`)}>Drain</button>` }] : []),
  ];
}

function core_columns(act: Act): Column<Core>[] {
  return [
    { name: "core", head: true, cell: (core) => `core ${core.core}` },
    { name: "state", cell: (core) => core.state },
    { name: "job", wide: true, cell: (core) => (core.job_id ? html`<${NamedLink} id=${core.job_id} />` : "–") },
    { name: "since", cell: (core) => time(core.leased_at) },
    { name: "drained because", wide: true, cell: (core) => (core.drained ? core.drain_reason ?? "no reason given" : "–") },
    ...(is_admin_of_all() ? [{ name: "action", cell: (core: Core) => core.drained
      ? html`<button class="small" aria-label=${`Undrain core ${core.core} of ${core.host}`} onClick=${() => act(core_path(core, "undrain"))}>Undrain</button>`
      : html`<button class="danger small" aria-label=${`Drain core ${core.core} of ${core.host}`} onClick=${() => act(core_path(core, "drain"),
          `Drain core ${core.core} of ${core.host}? No new job starts on it.`)}>Drain</button>` }] : []),
  ];
}

function drain_requests(host: Host | undefined, core: Core | undefined): Request[] {
  const requests = (name: string, path_of: (verb: string) => string): Request[] =>
    [["Drain", "drain"], ["Undrain", "undrain"]].map(([word, verb]) => ({ label: `${word} ${name}`, method: "POST", path: path_of(verb) }));
  return [...(host ? requests(host.name, (verb) => host_path(host, verb)) : []), ...(core ? requests(`core ${core.core} of ${core.host}`, (verb) => core_path(core, verb)) : [])];
}

const slice_columns: Column<Slice>[] = [
  { name: "job", wide: true, head: true, cell: (slice) => html`<a href=${href(`/jobs/${slice.job_id}`)}>${slice.name}</a>` },
  { name: "state", cell: (slice) => html`<${State} state=${slice.state} />` },
  { name: "cores", cell: (slice) => slice.cores },
  { name: "hosts by rank", wide: true, cell: (slice) => slice.members.map(({ host, cores }) => `${host}: core ${cores.join(", ")}`).join("; ") },
  { name: "since", cell: (slice) => time(slice.created_at) },
];

export function Machine() {
  use_title("Machine");
  const [refused, set_refused] = useState<unknown>();
  const { value, error, again } = use_refreshed("machine", async () => {
    const [hosts, cores, slices] = await Promise.all([get<List<Host>>("/v1/hosts"), get<List<Core>>("/v1/cores"), get<List<Slice>>("/v1/slices")]);
    return { hosts: hosts.items, cores: cores.items, slices: slices.items };
  });
  const act: Act = (path, question) => {
    if (question && !confirm(question)) return;
    set_refused(undefined);
    post(path).then(again, set_refused);
  };
  return html`<main class="full">
    <h1>Hosts and cores</h1>
    <${ErrorNote} error=${refused ?? error} />
    ${!value && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${value && value.hosts.length === 0 && html`<p>No host has reported. <code>slipwayd serve</code> brings its own machine; more join with <code>slipwayd agent</code>.</p>`}
    ${value && value.hosts.length > 0 && html`<${Table} label="hosts" columns=${host_columns(act)} rows=${value.hosts} key_of=${(host: Host) => host.name} />`}
    ${value && by_host(value.cores).map(([host, cores]) => html`<section key=${host}>
      <h2>Cores of ${host}</h2>
      <${CoreTiles} cores=${cores} />
      <${Table} label=${`cores of ${host}`} columns=${core_columns(act)} rows=${cores} key_of=${(core: Core) => core.core} />
    </section>`)}
    ${value && value.slices.length > 0 && html`<section><h2>Slices</h2><p class="hint">Jobs that run on several hosts.</p>
      <${Table} label="slices" columns=${slice_columns} rows=${value.slices} key_of=${(slice: Slice) => slice.job_id} /></section>`}
    ${value && value.cores.length > 0 && html`<${CoreTimeline} cores=${value.cores} />`}
    <${Curls} requests=${[{ label: "Hosts", method: "GET", path: "/v1/hosts" }, { label: "Cores", method: "GET", path: "/v1/cores" }, { label: "Slices", method: "GET", path: "/v1/slices" }, { label: "What was started", method: "GET", path: "/v1/decisions?limit=100" },
      ...(is_admin_of_all() && value ? drain_requests(value.hosts[0], value.cores[0]) : [])]} />
  </main>`;
}
