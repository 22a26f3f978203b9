// What a sweep decided and why, in order, a page at a time.
import { useEffect, useState } from "preact/hooks";
import { get, query, type List } from "../api/client";
import type { SweepDecision } from "../api/schema";
import { time } from "../format";
import { html } from "../html";
import { ErrorNote } from "../parts/error_note";
import { Table, type Column } from "../parts/table";

const page_size = 100;

const columns: Column<SweepDecision>[] = [
  { name: "time", cell: (one) => time(one.at) },
  { name: "trial", cell: (one) => one.trial ?? "–" },
  { name: "decision", cell: (one) => one.action },
  { name: "reason", wide: true, cell: (one) => one.reason ?? "" },
];

/** `revision` grows when there may be more of them. */
export function Decisions({ sweep, revision, ended }: { sweep: string; revision: number; ended: boolean }) {
  const [list, set_list] = useState<SweepDecision[]>([]);
  const [more, set_more] = useState(false);
  const [error, set_error] = useState<unknown>();
  const read = async (known: SweepDecision[]) => {
    try {
      const { items, next_cursor } = await get<List<SweepDecision>>(`/v1/sweeps/${sweep}/decisions${query({ limit: page_size, after: known.at(-1)?.seq })}`);
      set_list([...known, ...items]);
      set_more(next_cursor !== null && items.length === page_size);
      set_error(undefined);
    } catch (problem) {
      set_error(problem);
    }
  };
  useEffect(() => {
    if (!more) void read(list);
  }, [sweep, revision]);
  return html`<section><h2>Decisions</h2>
    <${ErrorNote} error=${error} />
    ${list.length === 0 ? html`<p class="hint">${ended ? "None." : "None yet."}</p>` : html`<div class="tall"><${Table} label="decisions" columns=${columns} rows=${list} key_of=${(one: SweepDecision) => one.seq} /></div>`}
    ${more && html`<button onClick=${() => read(list)}>More decisions</button>`}</section>`;
}
