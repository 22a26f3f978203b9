// What the overview lists: jobs of their own, sweeps and cross-validations. Trials and folds stand behind their sweep or
// cross-validation: a thousand of them would hide everything else.
import type { ComponentChildren } from "preact";
import { get, query, type List } from "../api/client";
import type { CrossValidation, Job, Sweep } from "../api/schema";
import { duration, number } from "../format";
import { html } from "../html";
import { href } from "../route";
import { ProgressBar } from "../parts/progress_bar";

export interface Work {
  id: string;
  name: string;
  link: string;
  state: string;
  progress: ComponentChildren;
  left: string;
  best: string;
  finished_at: string | null;
  reason: string;
}

export const work_max = 8;
// Sweeps and cross-validations are listed newest first: those that ended last are looked for among so many.
const lists_max = 20;

interface Kind<T> {
  path: string;
  running: string;
  succeeded: string;
  failed: string;
  work: (one: T) => Work;
}

const share = (done: number, all: number | null) => html`<span class="progress">
  <progress max="1" value=${all ? Math.min(1, done / all) : 0} aria-label=${`progress: ${done} of ${all ?? "–"}`}></progress> <span>${done} of ${all ?? "–"}</span></span>`;

const job_kind: Kind<Job> = {
  path: "/v1/jobs",
  running: "starting,compiling,running,finishing,preempting,pausing,cancelling",
  succeeded: "succeeded",
  failed: "failed,timed_out,expired",
  work: (job) => ({
    id: job.id, name: job.name, link: href(`/jobs/${job.id}`), state: job.state,
    progress: html`<${ProgressBar} job=${job} />`,
    left: job.state === "running" ? duration(job.progress?.eta_s) : "–",
    best: job.best ? `${job.best.metric} ${number(job.best.value)}` : "–",
    finished_at: job.finished_at, reason: job.reason?.message ?? "",
  }),
};

const sweep_kind: Kind<Sweep> = {
  path: "/v1/sweeps",
  running: "running,stopping",
  succeeded: "finished",
  failed: "failed",
  work: (sweep) => ({
    id: sweep.id, name: sweep.name, link: href(`/sweeps/${sweep.id}`), state: sweep.state,
    progress: share(sweep.trials.completed + sweep.trials.stopped + sweep.trials.failed, sweep.max_trials), left: "–",
    best: sweep.best ? `${sweep.spec.objective?.metric} ${number(sweep.best.value)}` : "–",
    finished_at: sweep.finished_at, reason: sweep.reason?.message ?? "",
  }),
};

const cross_validation_kind: Kind<CrossValidation> = {
  path: "/v1/cross-validations",
  running: "preparing,running,cancelling",
  succeeded: "succeeded",
  failed: "failed",
  work: (one) => ({
    id: one.id, name: one.name, link: href(`/cross-validations/${one.id}`), state: one.state,
    progress: share(one.folds.succeeded, one.folds.total), left: "–",
    best: `${one.folds.succeeded} ${one.folds.succeeded === 1 ? "fold" : "folds"}`,
    finished_at: one.finished_at, reason: one.reason?.message ?? "",
  }),
};

export const job_states = { running: job_kind.running, failed: job_kind.failed };

async function list<T>(kind: Kind<T>, states: "running" | "succeeded" | "failed", values: Record<string, string>, limit: number): Promise<Work[]> {
  const page = await get<List<T>>(`${kind.path}${query({ state: kind[states], limit, ...values })}`);
  return page.items.map(kind.work);
}

/** Sweeps and cross-validations before jobs; of each the newest. */
export async function running_work(): Promise<Work[]> {
  const parts = await Promise.all([list(sweep_kind, "running", {}, work_max), list(cross_validation_kind, "running", {}, work_max),
    list(job_kind, "running", { parent: "none" }, work_max)]);
  return parts.flat();
}

/** What has ended so, the last first; with `since` only what has ended since then. */
export async function ended_work(states: "succeeded" | "failed", since?: string): Promise<Work[]> {
  const ended = { parent: "none", order_by: "-finished_at", ...(since ? { finished_after: since } : {}) };
  const parts = await Promise.all([list(job_kind, states, ended, work_max), list(sweep_kind, states, {}, lists_max), list(cross_validation_kind, states, {}, lists_max)]);
  const time_of = (work: Work) => work.finished_at ?? "";
  return parts.flat().filter((work) => !since || time_of(work) >= since)
    .sort((a, b) => (time_of(a) < time_of(b) ? 1 : -1)).slice(0, work_max);
}
