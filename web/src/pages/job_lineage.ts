// Where a job comes from: the jobs that it was made from, with the checkpoint that each went on from.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Job } from "../api/schema";
import { html } from "../html";
import { href } from "../route";

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

export function Lineage({ job }: { job: Job }) {
  const [older, set_older] = useState<Job[]>([]);
  const { origin } = job;
  useEffect(() => {
    if (origin) ancestors(job).then(set_older);
  }, [job.id]);
  if (!origin) return null;
  return html`<section><h2>Lineage</h2><ol class="lineage" aria-label="lineage"><li>${job.name} <${Line} job=${job} from=${older[0]} /></li>
    ${older.map((one, index) => html`<li key=${one.id}><a href=${href(`/jobs/${one.id}`)}>${one.name}</a> <${Line} job=${one} from=${older[index + 1]} /></li>`)}</ol></section>`;
}
