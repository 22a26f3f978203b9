// Samples of a dataset as the service reads them: pictures with their labels, rows of a table, or text.
import { useLayoutEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Dataset, DatasetPreview, PreviewSample } from "../api/schema";
import { any_value, number } from "../format";
import { html } from "../html";
import { ErrorNote } from "../parts/error_note";
import { Table, type Column } from "../parts/table";
import { dataset_path } from "./datasets";

const samples_shown = 24;
const columns_shown = 12;

function label_of({ class: name, labels }: PreviewSample): string {
  if (name !== null) return name;
  return Object.entries(labels ?? {}).map(([label, value]) => `${label} ${any_value(value)}`).join(", ");
}

const place_of = ({ file, row, group, part }: PreviewSample) =>
  [file, row !== null && `row ${row}`, part !== null && `part ${part}`, group !== null && `group ${group}`].filter(Boolean).join(", ");

function Picture({ sample }: { sample: PreviewSample }) {
  const label = label_of(sample);
  return html`<figure class="sample" title=${place_of(sample)}>
    ${sample.image ? html`<img src=${sample.image} alt=${`sample ${sample.sample}${label ? `: ${label}` : ""}`} />` : html`<p class="error">${sample.problem ?? "no picture"}</p>`}
    <figcaption>${label || "–"}</figcaption></figure>`;
}

const is_text = ({ text }: PreviewSample) => text !== null;
const is_picture = ({ image, problem, values }: PreviewSample) => image !== null || (problem !== null && values === null);

function row_columns(names: string[]): Column<PreviewSample>[] {
  return [
    { name: "sample", cell: ({ sample }) => number(sample) },
    { name: "label", cell: label_of },
    ...names.slice(0, columns_shown).map((name, index): Column<PreviewSample> => ({ name, cell: ({ values }) => number(values?.[index]) })),
    { name: "from", wide: true, minor: true, cell: place_of },
  ];
}

function Samples({ preview }: { preview: DatasetPreview }) {
  const { items } = preview;
  if (items.some(is_text))
    return html`${items.map((sample) => html`<p key=${sample.sample} class="hint">${place_of(sample)}</p><pre tabindex="0" aria-label=${`text of ${sample.file}`}>${sample.text ?? sample.problem}</pre>`)}`;
  if (items.some(is_picture)) return html`<div class="samples">${items.map((sample) => html`<${Picture} key=${sample.sample} sample=${sample} />`)}</div>`;
  const columns = preview.columns.length > 0 ? preview.columns : (items[0]?.values ?? []).map((_, index) => `value ${index + 1}`);
  return html`<${Table} label="samples" stacks=${false} columns=${row_columns(columns)} rows=${items} key_of=${(one: PreviewSample) => one.sample} />
    ${columns.length > columns_shown && html`<p class="hint">The first ${columns_shown} of ${number(columns.length)} columns.</p>`}`;
}

export function Preview({ dataset }: { dataset: Dataset }) {
  const [preview, set_preview] = useState<DatasetPreview>();
  const [error, set_error] = useState<unknown>();
  useLayoutEffect(() => { // before the frame without them is painted
    get<DatasetPreview>(`${dataset_path(dataset)}/preview?n=${samples_shown}`).then(set_preview).catch(set_error);
  }, [dataset.id]);
  return html`<section><h2>Samples</h2>
    <${ErrorNote} error=${error} />
    ${!preview && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${preview && html`<${Samples} preview=${preview} /><p class="hint">${number(preview.items.length)} of ${number(preview.samples)}, spread evenly, before augmentation.</p>`}</section>`;
}
