// What a user can do to a job in its present state: one row for each action.
import { useState } from "preact/hooks";
import { post } from "../api/client";
import { may } from "../api/me";
import type { Job } from "../api/schema";
import { final_states } from "../format";
import { html } from "../html";

interface Action {
  verb: string;
  label: string;
  hint: string;
  offered: (job: Job) => boolean;
  question?: (job: Job) => string;
  danger?: boolean;
}

const runs = (job: Job) => ["starting", "compiling", "running"].includes(job.state);

const actions: Action[] = [
  { verb: "pause", label: "Pause", hint: "Save a checkpoint and free the cores", offered: (job) => runs(job) || job.state === "queued" },
  { verb: "resume", label: "Resume", hint: "Queue the job again", offered: (job) => job.state === "paused" },
  { verb: "checkpoint", label: "Save checkpoint", hint: "Save a checkpoint and continue", offered: (job) => job.kind === "train" && runs(job) },
  { verb: "retry", label: "Retry", hint: "Submit the job again; it continues from its newest checkpoint",
    offered: (job) => final_states.includes(job.state) && job.state !== "succeeded" },
  { verb: "cancel", label: "Cancel", hint: "Save a checkpoint and end the job", danger: true,
    question: (job) => `Cancel ${job.name}? Its checkpoints are kept.`,
    offered: (job) => !final_states.includes(job.state) && job.state !== "cancelling" },
];

/** To those who may: the others only look. */
const offered_to = (job: Job) => (may("editor", job.project) ? actions.filter((action) => action.offered(job)) : []);

const path_of = (job: Job, action: Action) => `/v1/jobs/${job.id}/${action.verb}`;

/** What the buttons would send now. */
export const action_requests = (job: Job) =>
  offered_to(job).map((action) => ({ label: action.label, method: "POST", path: path_of(job, action) }));

/// Calls `done` with the answer; a retry answers with the new job.
export function JobActions({ job, done, failed }: { job: Job; done: (answer: Job) => void; failed: (problem: unknown) => void }) {
  const [busy, set_busy] = useState(false);
  const run = async (action: Action) => {
    if (action.question && !confirm(action.question(job))) return;
    set_busy(true);
    try {
      done(await post<Job>(path_of(job, action)));
    } catch (problem) {
      failed(problem);
    } finally {
      set_busy(false);
    }
  };
  return html`${offered_to(job).map((action) => html`<button key=${action.verb} disabled=${busy}
    class=${action.danger ? "danger" : ""} title=${action.hint} onClick=${() => run(action)}>${action.label}</button>`)}`;
}
