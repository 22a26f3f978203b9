// Hosts and their cores: what each does, why one is drained, and taking them out of service and back.
import { useState } from "preact/hooks";
import { get, post, query, type List } from "../api/client";
import type { Core, Host } from "../api/schema";
import { bytes, duration, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { use_title } from "../title";
import { by_host, CoreTiles } from "../parts/core_tiles";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { use_refreshed } from "../parts/refreshed";
import { Table, type Column } from "../parts/table";
import { CoreTimeline } from "./core_timeline";

type Act = (path: string, question?: string) => void;

const host_path = (host: Host, verb: string) => `/v1/hosts/${encodeURIComponent(host.name)}/${verb}`;
const core_path = (core: Core, verb: string) => `/v1/cores/${core.core}/${verb}${query({ host: core.host })}`;

function host_columns(act: Act): Column<Host>[] {
  return [
    { name: "host", wide: true, cell: (host) => host.name },
    { name: "cores", cell: (host) => `${host.cores} virtual, ${host.physical_cpus} CPUs` },
    { name: "memory", cell: (host) => bytes(host.memory_bytes) },
    { name: "heard of", title: "Time since its agent last reported", cell: (host) => `${duration(host.silent_s)} ago` },
    { name: "state", cell: (host) => (host.drain ? "drained" : "in service") },
    { name: "action", cell: (host) => host.drain
      ? html`<button aria-label=${`Undrain ${host.name}`} onClick=${() => act(host_path(host, "undrain"))}>Undrain</button>`
      : html`<button class="danger" aria-label=${`Drain ${host.name}`} onClick=${() => act(host_path(host, "drain"),
          `Drain ${host.name}? No new job starts there; jobs that run there save and move.`)}>Drain</button>` },
  ];
}

function core_columns(act: Act): Column<Core>[] {
  return [
    { name: "core", cell: (core) => core.core },
    { name: "state", cell: (core) => core.state },
    { name: "job", wide: true, cell: (core) => (core.job_id ? html`<a href=${href(`/jobs/${core.job_id}`)}>${core.job_id}</a>` : "–") },
    { name: "since", cell: (core) => time(core.leased_at) },
    { name: "drained because", wide: true, cell: (core) => (core.drained ? core.drain_reason ?? "somebody asked" : "–") },
    { name: "action", cell: (core) => core.drained
      ? html`<button aria-label=${`Undrain core ${core.core} of ${core.host}`} onClick=${() => act(core_path(core, "undrain"))}>Undrain</button>`
      : html`<button class="danger" aria-label=${`Drain core ${core.core} of ${core.host}`} onClick=${() => act(core_path(core, "drain"),
          `Drain core ${core.core} of ${core.host}? No new job starts on it.`)}>Drain</button>` },
  ];
}

export function Machine() {
  use_title("Machine");
  const [refused, set_refused] = useState<unknown>();
  const { value, error, again } = use_refreshed("machine", async () => {
    const [hosts, cores] = await Promise.all([get<List<Host>>("/v1/hosts"), get<List<Core>>("/v1/cores")]);
    return { hosts: hosts.items, cores: cores.items };
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
    ${value && value.cores.length > 0 && html`<${CoreTimeline} cores=${value.cores} />`}
    <${Curls} requests=${[{ label: "Hosts", method: "GET", path: "/v1/hosts" }, { label: "Cores", method: "GET", path: "/v1/cores" }, { label: "What was started", method: "GET", path: "/v1/decisions?limit=100" },
      ...(value?.hosts[0] ? [{ label: `Drain ${value.hosts[0].name}`, method: "POST", path: host_path(value.hosts[0], "drain") }] : []),
      ...(value?.cores[0] ? [{ label: `Drain core ${value.cores[0].core}`, method: "POST", path: core_path(value.cores[0], "drain") }] : [])]} />
  </main>`;
}
