// The cores of the machine as tiles: the word says what each does, the colour repeats it.
import type { Core } from "../api/schema";
import { html } from "../html";
import { href } from "../route";

export function CoreTiles({ cores }: { cores: Core[] }) {
  return html`<ul class="tiles">${cores.map((core) => html`<li key=${`${core.host} ${core.core}`} class=${`tile tile-${core.state}`} title=${core.drain_reason ?? undefined}>
    <span>core ${core.core}</span> ${core.job_id ? html`<a href=${href(`/jobs/${core.job_id}`)}>${core.state}</a>` : html`<span>${core.state}</span>`}</li>`)}</ul>`;
}

/** Cores by the host that they are of, in the order of the answer. */
export function by_host(cores: Core[]): [string, Core[]][] {
  const hosts = new Map<string, Core[]>();
  for (const core of cores) hosts.set(core.host, [...(hosts.get(core.host) ?? []), core]);
  return [...hosts];
}
