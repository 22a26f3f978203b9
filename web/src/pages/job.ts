// One job: state, progress, live curves, log, checkpoints, and what can be done to it.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api/client";
import { may } from "../api/me";
import type { Explanation, Job as JobObject } from "../api/schema";
import { any_value, failure_place, final_states, number, queue_place, sentence, time } from "../format";
import { html } from "../html";
import { go, href } from "../route";
import { use_title } from "../title";
import { Curls, type Request } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { action_requests, JobActions } from "../parts/job_actions";
import { Log } from "../parts/log";
import { NamedLink } from "../parts/named_link";
import { PageState } from "../parts/page_state";
import { ProgressBar } from "../parts/progress_bar";
import { State } from "../parts/state";
import { Attempts, run_time, use_attempts } from "./job_attempts";
import { job_feed } from "./job_feed";
import { Lineage } from "./job_lineage";
import { Evaluation, Prediction } from "./job_measured";
import { Training } from "./job_training";

function parent_of({ parent }: JobObject): [string, unknown][] {
  if (!parent) return [];
  return [["part of", html`<${NamedLink} id=${parent.id} />`]];
}

function Facts({ job, ran }: { job: JobObject; ran: string }) {
  const trains = job.kind === "train";
  const labels = Object.entries(job.labels).map(([name, value]) => `${name}: ${value}`).join(", ");
  const facts: [string, unknown][] = [
    ["id", html`<code>${job.id}</code>`],
    ["project", job.project],
    ...(labels ? [["labels", labels] as [string, unknown]] : []),
    ...(trains ? [["best", job.best ? `${job.best.metric} ${number(job.best.value)} at step ${number(job.best.step)}` : "–"] as [string, unknown]] : []),
    ["cores", job.effective?.world_size],
    ["global batch", job.effective?.global_batch],
    ...(trains ? [["learning rate", any_value(job.effective?.lr)] as [string, unknown]] : []),
    ["attempts", job.attempts],
    ...(job.origin ? [[job.origin.action === "retry" ? "retry of" : "fork of",
      html`<${NamedLink} id=${job.origin.job_id} />`] as [string, unknown]] : []),
    ...parent_of(job),
    ["created", time(job.created_at)],
    ["ran", ran],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value ?? "–"}</dd></div>`)}</dl>`;
}

function Waiting({ job }: { job: JobObject }) {
  const [why, set_why] = useState<string>("");
  useEffect(() => {
    const ask = () =>
      get<Explanation>(`/v1/jobs/${job.id}/explain`)
        .then((answer) => set_why(sentence(answer.message)))
        .catch(() => set_why(""));
    ask();
    const timer = setInterval(ask, 3000);
    return () => clearInterval(timer);
  }, [job.id]);
  const place = job.queue ? `${queue_place(job.queue.position)} ` : "";
  return html`<p class="hint">${place}${why} <a href=${href("/queue")}>The queue</a></p>`;
}

/** What the page reads, and what it offers to download. */
function reading(job: JobObject): Request[] {
  const path = `/v1/jobs/${job.id}`;
  const made: Record<string, [string, string][]> = {
    train: [["Its curves", `${path}/metrics?resolution=500`], ["Its curves as CSV", `${path}/metrics.csv`], ["Its checkpoints", `${path}/checkpoints`],
      ["Where the time goes", `${path}/report`], ["Its timeline", `${path}/trace`]],
    evaluate: [["Its metrics", `${path}/evaluation`]],
    predict: [["Its result", `/v1/predictions/${job.id}/result.csv`]],
  };
  const all: [string, string][] = [["Read this job", path], ...(made[job.kind] ?? []), ["Its attempts", `${path}/attempts`], ["Its log", `${path}/logs`],
    ...(job.state === "queued" ? [["Why it waits", `${path}/explain`] as [string, string]] : [])];
  return all.map(([label, one]) => ({ label, method: "GET", path: one }));
}

export function Job({ id }: { id: string }) {
  const feed = useMemo(() => job_feed(id), [id]);
  const [error, set_error] = useState<unknown>();
  useEffect(() => () => feed.close(), [feed]);
  const job = feed.job.value;
  const attempts = use_attempts(job);
  use_title(job ? `${job.name}, ${job.state.replace("_", " ")}` : id);
  if (!job) return html`<${PageState} title=${`Job ${id}`} error=${feed.error.value} back=${{ href: href("/jobs"), name: "All jobs" }} />`;

  const ended = final_states.includes(job.state);
  const acted = (answer: JobObject) => {
    set_error(undefined);
    if (answer.id !== id) go(`/jobs/${answer.id}`);
    void feed.reload();
  };
  return html`<main>
    <nav aria-label="breadcrumb"><a href=${href("/jobs")}>Jobs</a></nav>
    <div class="title"><h1>${job.name}</h1> <${State} state=${job.state} />
      <${JobActions} job=${job} done=${acted} failed=${set_error} />
      ${job.kind === "train" && html`<a href=${href("/compare", { jobs: id })}>Compare</a>`}
      ${job.kind === "train" && may("editor", job.project) && html`<a href=${href("/submit", { from: id })}>Clone with changes</a>`}
      ${!ended && html`<span class="hint" role="status">${feed.connection.value}</span>`}
    </div>
    ${job.reason && html`<p class=${job.state === "failed" ? "error" : "hint"}>${sentence(job.reason.message)}</p>`}
    ${job.state === "failed" && failure_place(job.result) && html`<p class="hint">Failed at ${failure_place(job.result)}.</p>`}
    ${job.state === "queued" && html`<${Waiting} job=${job} />`}
    <${ProgressBar} job=${job} detailed />
    <${ErrorNote} error=${error ?? feed.error.value} />
    <${Facts} job=${job} ran=${run_time(attempts)} />
    ${job.prediction && html`<${Prediction} job=${job} />`}
    ${job.evaluation && html`<${Evaluation} job=${job} />`}
    ${job.kind === "train" && html`<${Training} job=${job} feed=${feed} ended=${ended} />`}
    <${Lineage} job=${job} />
    <${Attempts} job=${job} attempts=${attempts} />
    <${Log} lines=${feed.log.value} ended=${ended} />
    <details><summary>Job spec</summary><pre tabindex="0" aria-label="job spec">${JSON.stringify(job.prediction ?? job.evaluation ?? job.spec, null, 2)}</pre></details>
    <${Curls} requests=${[...reading(job), ...action_requests(job)]} />
  </main>`;
}
