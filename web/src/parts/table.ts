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
  head?: boolean; // what the row is called: on a phone the head of its block
  choose?: boolean; // a box to choose the row by: on a phone in the corner of its block
}

const nothing = "–"; // left out on a phone, where each value has a line

function class_of<Row>({ wide, minor, head, choose }: Column<Row>, value: ComponentChildren): string {
  return [wide && "wide", minor && "minor", head && "head", choose && "choose", value === nothing && "none"].filter(Boolean).join(" ");
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
  stacks?: boolean; // a row becomes a block on a phone; numbers that are compared down a column stay a table
}

export function Table<Row>({ label, columns, rows, key_of, sorting, stacks = true }: TableProps<Row>) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table class=${stacks ? "stacks" : ""}>
    <thead><tr>${columns.map((column) => html`<${Heading} key=${column.name} column=${column} sorting=${sorting} />`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${key_of(row)}>${columns.map((column) => {
      const value = column.cell(row);
      return html`<td key=${column.name} class=${class_of(column, value)}><span class="of" aria-hidden="true">${column.name}</span> <span class="cell">${value}</span></td>`;
    })}</tr>`)}</tbody>
  </table></div>`;
}
