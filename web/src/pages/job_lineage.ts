// Where a job comes from and how it ran: the jobs that it was made from, with the checkpoint that each went on from, and its attempts.
import { useEffect, useState } from "preact/hooks";
import { get, type List } from "../api/client";
import type { Attempt, Job } from "../api/schema";
import { duration, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { Table, type Column } from "../parts/table";

const generations_max = 20;

/** The job's ancestors, its parent first; ends where one was deleted. */
async function ancestors(job: Job): Promise<Job[]> {
  const found: Job[] = [];
  let { origin } = job;
  while (origin && found.length < generations_max) {
    const parent = await get<Job>(`/v1/jobs/${origin.job_id}`).catch(() => undefined);
    if (!parent) break;
    found.push(parent);
    origin = parent.origin;
  }
  return found;
}

/** "trial 3", when a job is one of a sweep and goes on with the weights of another trial, as population based training does. */
function other_trial(job: Job, from: Job | undefined): string | undefined {
  if (!job.parent?.id.startsWith("swp_") || job.parent.id !== from?.parent?.id) return undefined;
  const [mine, theirs] = [job.parent.key, from.parent.key].map((key) => parseInt(key, 10));
  return mine === theirs ? undefined : `trial ${theirs}`;
}

function Line({ job, from }: { job: Job; from: Job | undefined }) {
  const { origin } = job;
  if (!origin) return null;
  const checkpoint = origin.continues_from;
  const trial = other_trial(job, from);
  return html` <span class="hint">${origin.action} ${checkpoint ? html`from checkpoint <code>${checkpoint}</code> of` : "of"}${trial ? ` ${trial}, whose weights it took over,` : ""}</span> `;
}

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

export function Lineage({ job }: { job: Job }) {
  const [older, set_older] = useState<Job[]>([]);
  const [{ items: attempts, next_cursor: before }, set_attempts] = useState<List<Attempt>>({ items: [], next_cursor: null });
  const { origin } = job;
  useEffect(() => {
    if (origin) ancestors(job).then(set_older);
  }, [job.id]);
  useEffect(() => {
    // What cannot be read now is read at the next change of the state.
    get<List<Attempt>>(`/v1/jobs/${job.id}/attempts`).then(set_attempts).catch(() => undefined);
  }, [job.id, job.attempts, job.state]);
  if (!origin && attempts.length === 0) return null;
  return html`<section>
    ${origin && html`<h2>Lineage</h2><ol class="lineage" aria-label="lineage"><li>${job.name} <${Line} job=${job} from=${older[0]} /></li>
      ${older.map((one, index) => html`<li key=${one.id}><a href=${href(`/jobs/${one.id}`)}>${one.name}</a> <${Line} job=${one} from=${older[index + 1]} /></li>`)}</ol>`}
    ${attempts.length > 0 && html`<h2>Attempts</h2><${Table} label="attempts" columns=${columns_of(attempts.some(({ members }) => members.length > 1))} rows=${attempts} key_of=${(one: Attempt) => one.attempt} />
      ${before && html`<p class="hint">The newest ${attempts.length} of ${job.attempts}.</p>`}`}</section>`;
}
