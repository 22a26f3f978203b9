// The stored splits of a dataset: what each is, what its certificate says, and making one.
import { useEffect, useState } from "preact/hooks";
import { get, post, remove, type List } from "../api/client";
import { may } from "../api/me";
import type { Dataset, Split } from "../api/schema";
import { any_value, bytes, number, time } from "../format";
import { html } from "../html";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { address } from "../api/base";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";
import { problems_of } from "../schema_form/problems";
import { Node } from "../schema_form/node";
import { schemas } from "../schema_form/schemas";
import type { Definitions } from "../schema_form/schema";
import { dataset_path, of_datasets } from "./datasets";

const how = ({ request }: Split) =>
  Object.entries(request).filter(([name]) => name !== "method").map(([name, value]) => `${name} ${any_value(value)}`).join(", ");

function columns_of(path: string, again: () => void, failed: (problem: unknown) => void, writes: boolean): Column<Split>[] {
  const remove_it = (split: Split) => {
    if (confirm(`Delete the split ${split.id}?`)) remove(`${path}/${split.id}`).then(again, failed);
  };
  return [
    { name: "id", cell: (split) => html`<code>${split.id}</code>` },
    { name: "state", cell: (split) => html`<${State} state=${split.state} />` },
    { name: "method", cell: (split) => split.request.method },
    { name: "how", wide: true, cell: how },
    { name: "folds", cell: (split) => number(split.folds) },
    { name: "created", minor: true, cell: (split) => time(split.created_at) },
    { name: "manifest", cell: (split) => (split.state === "ready"
      ? html`<a download=${`${split.id}.json`} href=${address(`${path}/${split.id}/manifest`)}>JSON</a> <span class="hint">${bytes(split.bytes)}</span>` : split.problems?.[0]?.message ?? "–") },
    ...(writes ? [{ name: "action", cell: (split: Split) => html`<button class="danger small" aria-label=${`Delete ${split.id}`} onClick=${() => remove_it(split)}>Delete</button>` }] : []),
  ];
}

function MakeSplit({ path, done }: { path: string; done: () => void }) {
  const [definitions, set_definitions] = useState<Definitions>();
  const [body, set_body] = useState<unknown>({ method: "kfold" });
  const [error, set_error] = useState<unknown>();
  useEffect(() => {
    schemas().then(set_definitions, set_error);
  }, []);
  const make = (event: Event) => {
    event.preventDefault();
    set_error(undefined);
    post(path, body).then(done, set_error);
  };
  return html`<div class="card"><form class="schema-form" aria-label="new split" onSubmit=${make}>
    ${definitions && html`<${Node} form=${{ id: "split", definitions, problems: problems_of(error) }} schema=${definitions.SplitCreate} value=${body} set=${set_body} pointer="" name="split" required=${true} />`}
    <${ErrorNote} error=${error} />
    <button type="submit">Make the split</button></form>
    <${Curls} requests=${[{ label: "Make this split", method: "POST", path, body }]} /></div>`;
}

const splits_path = (of_dataset: string) => `${of_dataset}/splits`;

/** `of_dataset`: its path. */
export const use_splits = (of_dataset: string) =>
  use_refreshed(splits_path(of_dataset), async () => (await get<List<Split>>(splits_path(of_dataset))).items, () => false, of_datasets);

export function Splits({ dataset, read }: { dataset: Dataset; read: ReturnType<typeof use_splits> }) {
  const path = splits_path(dataset_path(dataset));
  const [adding, set_adding] = useState(false);
  const [refused, set_refused] = useState<unknown>();
  const { value: splits, error, again } = read;
  const writes = may("editor", dataset.project);
  const made = () => {
    set_adding(false);
    again();
  };
  return html`<section><div class="title"><h2>Splits</h2>${writes && !adding && html`<button onClick=${() => set_adding(true)}>Make a split…</button>`}</div>
    <${ErrorNote} error=${refused ?? error} />
    ${adding && html`<${MakeSplit} path=${path} done=${made} />`}
    ${splits?.length === 0 && html`<p class="hint">There are no stored splits. A job can divide the samples itself; a stored split is the same for all jobs.</p>`}
    ${splits && splits.length > 0 && html`<${Table} label="splits" columns=${columns_of(path, again, set_refused, writes)} rows=${splits} key_of=${(one: Split) => one.id} />
      <${Curls} of="the splits" requests=${[{ label: "The splits", method: "GET", path }, { label: "A manifest", method: "GET", path: `${path}/${splits[0].id}/manifest` },
        ...(writes ? [{ label: "Delete a split", method: "DELETE", path: `${path}/${splits[0].id}` }] : [])]} />`}</section>`;
}
