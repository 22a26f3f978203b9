// A link to an object by its name: pages know many objects by their ids alone. A name that was read is kept for the tab.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api/client";
import { html } from "../html";
import { href } from "../route";

const places: [string, string][] = [["job_", "jobs"], ["ds_", "datasets"], ["swp_", "sweeps"], ["cv_", "cross-validations"]];
const names = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();

function ask(place: string, id: string) {
  if (asked.has(id)) return;
  asked.add(id);
  // An object that was deleted keeps its id.
  get<{ name: string }>(`/v1/${place}/${id}`).then(({ name }) => (names.value = new Map([...names.value, [id, name]])), () => undefined);
}

/** `id` of a job, dataset, sweep or cross-validation; a name, as specs may have in its place, is shown as it is. */
export function NamedLink({ id }: { id: string }) {
  const place = places.find(([prefix]) => id.startsWith(prefix))?.[1];
  useEffect(() => {
    if (place) ask(place, id);
  }, [id]);
  if (!place) return html`<span>${id}</span>`;
  return html`<a href=${href(`/${place}/${id}`)} title=${id}>${names.value.get(id) ?? id}</a>`;
}
