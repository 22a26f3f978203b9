// How a job ran: its attempts, the newest page of them first, and earlier ones a page at a time.
import { useEffect, useState } from "preact/hooks";
import { get, query, type List } from "../api/client";
import type { Attempt, Job } from "../api/schema";
import { duration, time } from "../format";
import { html } from "../html";
import { ErrorNote } from "../parts/error_note";
import { Table, type Column } from "../parts/table";

function ran_s({ started_at, ended_at }: Attempt): number | undefined {
  if (!started_at) return undefined;
  return ((ended_at ? Date.parse(ended_at) : Date.now()) - Date.parse(started_at)) / 1000;
}

/** `sliced`: some of them ran on several hosts. */
const columns_of = (sliced: boolean): Column<Attempt>[] => [
  { name: "attempt", cell: (one) => one.attempt },
  { name: "host", wide: sliced, cell: (one) => (one.members.length > 1 ? one.members.map(({ host }) => host).join(", ") : one.host) },
  { name: "cores", wide: sliced, cell: (one) => (one.members.length > 1 ? one.members.map(({ cores }) => cores.join(", ")).join("; ") : one.cores.join(", ")) },
  { name: "began", cell: (one) => time(one.created_at) },
  { name: "ran", cell: (one) => duration(ran_s(one)) },
  { name: "ended as", cell: (one) => one.exit_kind ?? "–" },
  { name: "went on from", wide: true, cell: (one) => (one.resumed_from ? html`<code>${one.resumed_from}</code>` : "the beginning") },
  { name: "why it ended", wide: true, cell: (one) => one.message ?? "–" },
];

/** In the order in which they began. `cursor` leads to the page before them; null: there is none. */
interface Known {
  items: Attempt[];
  cursor: string | null;
}

/** The newest page in place of what is known of it; earlier pages stay. */
function with_newest({ items, cursor }: Known, newest: List<Attempt>): Known {
  const first = newest.items[0]?.attempt ?? 0;
  const earlier = items.filter(({ attempt }) => attempt < first);
  return { items: [...earlier, ...newest.items], cursor: earlier.length > 0 ? cursor : newest.next_cursor };
}

/** How long a job has run: its attempts together, without the times in which it was paused or queued. */
export function Ran({ job }: { job: Job }) {
  const [attempts, set_attempts] = useState<Attempt[]>();
  useEffect(() => {
    const read = async () => {
      const all: Attempt[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page: List<Attempt> = await get<List<Attempt>>(`/v1/jobs/${job.id}/attempts${query({ cursor: cursor ?? undefined, limit: 200 })}`);
        all.push(...page.items);
        cursor = page.next_cursor;
      }
      set_attempts(all);
    };
    // What cannot be read now is read at the next change of the state.
    read().catch(() => undefined);
  }, [job.id, job.attempts, job.state]);
  const times = attempts?.map(ran_s).filter((one) => one !== undefined) ?? [];
  return html`${times.length === 0 ? "–" : duration(times.reduce((sum, one) => sum + one, 0))}`;
}

export function Attempts({ job }: { job: Job }) {
  const [known, set_known] = useState<Known>({ items: [], cursor: null });
  const [error, set_error] = useState<unknown>();
  const page_at = (cursor?: string) => get<List<Attempt>>(`/v1/jobs/${job.id}/attempts${query({ cursor })}`);
  useEffect(() => {
    // What cannot be read now is read at the next change of the state.
    page_at().then((newest) => set_known((before) => with_newest(before, newest))).catch(() => undefined);
  }, [job.id, job.attempts, job.state]);
  const read_earlier = () =>
    page_at(known.cursor ?? undefined)
      .then(({ items, next_cursor }) => {
        set_known((after) => ({ items: [...items, ...after.items], cursor: next_cursor }));
        set_error(undefined);
      })
      .catch(set_error);
  const { items, cursor } = known;
  if (items.length === 0) return null;
  return html`<section><h2>Attempts</h2>
    <${Table} label="attempts" columns=${columns_of(items.some(({ members }) => members.length > 1))} rows=${items} key_of=${(one: Attempt) => one.attempt} />
    <${ErrorNote} error=${error} />
    ${cursor !== null && html`<p class="hint">The newest ${items.length} of ${job.attempts}. <button class="small" onClick=${read_earlier}>Earlier attempts</button></p>`}</section>`;
}
