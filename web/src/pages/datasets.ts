// The datasets: newest first, narrowed by name, state, format and project.
import { get, query, type List } from "../api/client";
import { may } from "../api/me";
import type { Dataset } from "../api/schema";
import type { ProjectEvent } from "../api/shared_stream";
import { bytes, number, time } from "../format";
import { html } from "../html";
import { href, route, set_query } from "../route";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { ChoiceFilter, TextFilter } from "../parts/filters";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";
import { TurnPages } from "../parts/turn_pages";

const page_size = 200;
const states = ["checking", "ready", "failed"];
const formats = ["idx", "csv", "image_folder", "image_csv", "cifar10", "tfrecord", "webdataset", "npz", "text"];

export const of_datasets = ({ type }: ProjectEvent) => type === "dataset" || type === "split";
export const dataset_path = ({ id }: Pick<Dataset, "id">) => `/v1/datasets/${id}`;

const columns: Column<Dataset>[] = [
  { name: "name", wide: true, head: true, cell: (one) => html`<a href=${href(`/datasets/${one.id}`)}>${one.name}</a>` },
  { name: "state", cell: (one) => html`<${State} state=${one.state} />` },
  { name: "format", cell: (one) => one.format },
  { name: "samples", cell: ({ report }) => number(report?.samples) },
  { name: "classes", cell: ({ report }) => number(report?.class_count) },
  { name: "size", cell: (one) => (one.state === "ready" ? bytes(one.bytes) : "–") },
  { name: "project", minor: true, cell: (one) => one.project },
  { name: "created", cell: (one) => time(one.created_at) },
  { name: "problem", wide: true, minor: true, cell: ({ problems }) => problems?.[0]?.message ?? "–" },
];

const choices = (words: string[]): [string, string][] => [["", "any"], ...words.map((word): [string, string] => [word, word])];

export function Datasets() {
  use_title("Datasets");
  const { query: asked } = route.value;
  const text = (name: string) => asked.get(name) ?? "";
  const path = `/v1/datasets${query({ limit: page_size, name: text("name"), state: text("state"), format: text("format"), project: text("project"), cursor: text("cursor") })}`;
  const { value: list, error } = use_refreshed(path, () => get<List<Dataset>>(path), () => false, of_datasets);
  const shown = list?.items;
  const set = (name: string) => (value: string) => set_query({ [name]: value, cursor: null });
  const is_filtered = ["name", "state", "format", "project"].some(text);
  return html`<main class="full">
    <div class="title"><h1>Datasets</h1>${may("editor") && html`<a href=${href("/datasets/new")}>Add a dataset</a>`}</div>
    <form class="controls" role="search" aria-label="datasets" onSubmit=${(event: Event) => event.preventDefault()}>
      <${TextFilter} label="Name" value=${text("name")} set=${set("name")} hint="part of it" />
      <${ChoiceFilter} label="State" value=${text("state")} set=${set("state")} choices=${choices(states)} />
      <${ChoiceFilter} label="Format" value=${text("format")} set=${set("format")} choices=${choices(formats)} />
      <${TextFilter} label="Project" value=${text("project")} set=${set("project")} hint="its name" />
      ${is_filtered && html`<button type="button" onClick=${() => set_query({ name: null, state: null, format: null, project: null, cursor: null })}>Clear filters</button>`}
    </form>
    <${ErrorNote} error=${error} />
    ${!list && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${shown?.length === 0 && (is_filtered ? html`<p>No dataset matches. Clear a filter to see more.</p>`
      : html`<p>No dataset yet. <a href=${href("/datasets/new")}>Add the first one</a>, or with the command line:</p>
        <pre tabindex="0" aria-label="command">slipway dataset create NAME --format csv --upload FILE</pre>`)}
    ${shown && shown.length > 0 && html`<${Table} label="datasets" columns=${columns} rows=${shown} key_of=${(one: Dataset) => one.id} />`}
    <${TurnPages} next_cursor=${list?.next_cursor} />
    <${Curls} requests=${[{ label: "This list", method: "GET", path }]} />
  </main>`;
}
