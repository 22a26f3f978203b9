// A table in a box of its own that scrolls sideways when it must. On a phone each row becomes a block of "name: value" lines.
import type { ComponentChildren } from "preact";
import { html } from "../html";

export interface Column<Row> {
  name: string;
  cell: (row: Row) => ComponentChildren;
  title?: string; // what the column means
  sort?: string; // value of order_by
  wide?: boolean; // text that may take several lines
  minor?: boolean; // left out on a phone: the page of the row has it
}

export interface Sorting {
  order_by: string;
  set: (order_by: string) => void;
}

function Heading<Row>({ column, sorting }: { column: Column<Row>; sorting?: Sorting }) {
  const { name, title, sort } = column;
  if (!sort || !sorting) return html`<th scope="col" title=${title}>${name}</th>`;
  const up = sorting.order_by === sort;
  const down = sorting.order_by === `-${sort}`;
  return html`<th scope="col" title=${title} aria-sort=${up ? "ascending" : down ? "descending" : "none"}>
    <button class="plain sort" onClick=${() => sorting.set(down ? sort : `-${sort}`)}>${name}${up ? " ▲" : down ? " ▼" : ""}</button></th>`;
}

interface TableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  key_of: (row: Row) => string | number;
  sorting?: Sorting;
}

export function Table<Row>({ label, columns, rows, key_of, sorting }: TableProps<Row>) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table class="stacks">
    <thead><tr>${columns.map((column) => html`<${Heading} key=${column.name} column=${column} sorting=${sorting} />`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${key_of(row)}>${columns.map((column) =>
      html`<td key=${column.name} class=${column.wide ? "wide" : column.minor ? "minor" : ""}><span class="of" aria-hidden="true">${column.name}</span> <span class="cell">${column.cell(row)}</span></td>`)}</tr>`)}</tbody>
  </table></div>`;
}
