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

interface ReadAttempts extends Known {
  error: unknown;
  read_earlier: () => void;
}

/** The attempts of the job of a page: the newest page is read again when its state changes, earlier ones on request. */
export function use_attempts(job: Job | undefined): ReadAttempts {
  const [known, set_known] = useState<Known>({ items: [], cursor: null });
  const [error, set_error] = useState<unknown>();
  const id = job?.id;
  const page_at = (cursor?: string) => get<List<Attempt>>(`/v1/jobs/${id}/attempts${query({ cursor })}`);
  useEffect(() => set_known({ items: [], cursor: null }), [id]);
  useEffect(() => {
    let current = true;
    // What cannot be read now is read at the next change of the state.
    if (id) page_at().then((newest) => current && set_known((before) => with_newest(before, newest))).catch(() => undefined);
    return () => { current = false; };
  }, [id, job?.attempts, job?.state]);
  const read_earlier = () =>
    page_at(known.cursor ?? undefined)
      .then(({ items, next_cursor }) => {
        set_known((after) => ({ items: [...items, ...after.items], cursor: next_cursor }));
        set_error(undefined);
      })
      .catch(set_error);
  return { ...known, error, read_earlier };
}

/** How long a job has run: its attempts together, without the times in which it was paused or queued. */
export function run_time({ items, cursor }: ReadAttempts): string {
  const times = items.map(ran_s).filter((one) => one !== undefined);
  if (times.length === 0) return "–";
  return `${cursor === null ? "" : "more than "}${duration(times.reduce((sum, one) => sum + one, 0))}`;
}

export function Attempts({ job, attempts }: { job: Job; attempts: ReadAttempts }) {
  const { items, cursor, error, read_earlier } = attempts;
  if (items.length === 0) return null;
  return html`<section><h2>Attempts</h2>
    <${Table} label="attempts" columns=${columns_of(items.some(({ members }) => members.length > 1))} rows=${items} key_of=${(one: Attempt) => one.attempt} />
    <${ErrorNote} error=${error} />
    ${cursor !== null && html`<p class="hint">The newest ${items.length} of ${job.attempts}. <button class="small" onClick=${read_earlier}>Earlier attempts</button></p>`}</section>`;
}
