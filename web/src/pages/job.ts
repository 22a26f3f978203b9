// One job: state, progress, live curves, log, checkpoints, and what can be done to it.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Checkpoint, Job as JobObject } from "../api/job";
import { bytes, duration, failure_place, final_states, metric_value, number, queue_place, time } from "../format";
import { html } from "../html";
import { Chart } from "../parts/chart";
import { ErrorNote } from "../parts/error_note";
import { JobActions } from "../parts/job_actions";
import { ProgressBar } from "../parts/progress_bar";
import { State } from "../parts/state";
import { TimeShares } from "../parts/time_shares";
import { job_feed } from "./job_feed";
import type { LogLine } from "./job_feed";
import { metric_charts } from "./metric_charts";

function Facts({ job }: { job: JobObject }) {
  const ran_s = job.started_at
    ? ((job.finished_at ? Date.parse(job.finished_at) : Date.now()) - Date.parse(job.started_at)) / 1000
    : undefined;
  const facts: [string, unknown][] = [
    ["id", html`<code>${job.id}</code>`],
    ...(job.kind !== "train" ? [] : [["best", job.best ? `${job.best.metric} ${number(job.best.value)} at step ${number(job.best.step)}` : "–"] as [string, unknown]]),
    ["cores", job.effective?.world_size],
    ["global batch", job.effective?.global_batch],
    ...(job.kind !== "train" ? [] : [["learning rate", number(job.effective?.lr)] as [string, unknown]]),
    ["attempts", job.attempts ?? 0],
    ...(job.origin ? [[job.origin.action === "retry" ? "retry of" : "fork of",
      html`<a href=${`#/jobs/${job.origin.job_id}`}>${job.origin.job_id}</a>`] as [string, unknown]] : []),
    ["created", time(job.created_at)],
    ["ran", duration(ran_s)],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value ?? "–"}</dd></div>`)}</dl>`;
}

function Waiting({ job }: { job: JobObject }) {
  const [why, set_why] = useState<string>("");
  useEffect(() => {
    const ask = () =>
      get<{ message?: string; reason?: { message: string } }>(`/v1/jobs/${job.id}/explain`)
        .then((answer) => set_why(answer.reason?.message ?? answer.message ?? ""))
        .catch(() => set_why(""));
    ask();
    const timer = setInterval(ask, 3000);
    return () => clearInterval(timer);
  }, [job.id]);
  const place = job.queue ? `${queue_place(job.queue.position)} ` : "";
  return html`<p class="hint">${place}${why}</p>`;
}

function Log({ lines }: { lines: LogLine[] }) {
  return html`<section>
    <h2>Log</h2>
    <div class="log" tabindex="0" role="log" aria-label="log">
      ${lines.length === 0 ? html`<p class="hint">Nothing said yet.</p>` : lines.map(
        (line) => html`<p key=${line.sequence} class=${`log-${line.level}`}>${line.message}</p>`)}
    </div>
  </section>`;
}

const samples_of = (data: Record<string, any>) =>
  data.part ? `part ${data.part}` : data.split === "all" ? "all samples" : `the ${data.split} side`;

function Prediction({ job }: { job: JobObject }) {
  const { from, data } = job.prediction ?? {};
  const samples = samples_of(data);
  return html`<section>
    <h2>Prediction</h2>
    <p>Checkpoint <code>${from.checkpoint}</code> of <a href=${`#/jobs/${from.job}`}>${from.job}</a> over ${data.dataset}, ${samples}.</p>
    ${job.state === "succeeded"
      ? html`<p><a download href=${`/v1/predictions/${job.id}/result.csv`}>${job.name}.csv</a></p>`
      : html`<p class="hint">The result is there when it has succeeded.</p>`}
  </section>`;
}

interface EvaluationReport {
  values: Record<string, number | null>;
  nonfinite?: Record<string, string>;
  samples: number;
  confusion_matrix?: { classes: string[]; counts: number[][] } | null;
}

/** The matrix of more classes is no table that one reads. */
const matrix_classes_max = 30;

function Matrix({ classes, counts }: { classes: string[]; counts: number[][] }) {
  if (classes.length > matrix_classes_max)
    return html`<p class="hint">The confusion matrix of ${classes.length} classes is in the evaluation.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="confusion matrix"><table>
    <thead><tr><th scope="col">true class</th>${classes.map((name) => html`<th scope="col" key=${name}>as ${name}</th>`)}</tr></thead>
    <tbody>${classes.map((name, row) => html`<tr key=${name}><th scope="row">${name}</th>
      ${counts[row].map((count, column) => html`<td key=${column}>${number(count)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

function Evaluation({ job }: { job: JobObject }) {
  const { from, data } = job.evaluation ?? {};
  const [report, set_report] = useState<EvaluationReport | undefined>();
  const [error, set_error] = useState<unknown>();
  const succeeded = job.state === "succeeded";
  useEffect(() => {
    if (succeeded) get<EvaluationReport>(`/v1/jobs/${job.id}/evaluation`).then(set_report).catch(set_error);
  }, [job.id, succeeded]);
  return html`<section>
    <h2>Evaluation</h2>
    <p>Checkpoint <code>${from.checkpoint}</code> of <a href=${`#/jobs/${from.job}`}>${from.job}</a> on ${data.dataset}, ${samples_of(data)}.</p>
    <${ErrorNote} error=${error} />
    ${!succeeded && html`<p class="hint">The metrics are there when it has succeeded.</p>`}
    ${report && html`<table>
      <thead><tr><th scope="col">metric</th><th scope="col">value</th></tr></thead>
      <tbody>${Object.entries(report.values).map(([name, value]) => html`<tr key=${name}>
        <td>${name}</td><td>${number(metric_value(value, report.nonfinite?.[name]))}</td></tr>`)}
        <tr><td>samples</td><td>${number(report.samples)}</td></tr></tbody>
    </table>
    ${report.confusion_matrix && html`<${Matrix} ...${report.confusion_matrix} />`}
    <p><a download=${`${job.name}.json`} href=${`/v1/jobs/${job.id}/evaluation`}>${job.name}.json</a></p>`}
  </section>`;
}

function Training({ job, feed }: { job: JobObject; feed: ReturnType<typeof job_feed> }) {
  const revision = feed.revision.value;
  return html`<div class="charts">${metric_charts(feed.series.values()).map(({ title, series }) =>
      html`<${Chart} key=${title} title=${title} series=${series} revision=${revision} />`)}</div>
    <${TimeShares} job=${job} first_step=${feed.first_step.value} />
    <${Checkpoints} checkpoints=${feed.checkpoints.value} />`;
}

function Checkpoints({ checkpoints }: { checkpoints: Checkpoint[] }) {
  return html`<section>
    <h2>Checkpoints</h2>
    ${checkpoints.length === 0 ? html`<p class="hint">None yet.</p>` : html`<div class="scroll" tabindex="0" role="region" aria-label="checkpoints"><table>
      <thead><tr><th scope="col">step</th><th scope="col">kept as</th><th scope="col">metric</th><th scope="col">files</th></tr></thead>
      <tbody>${checkpoints.map((one) => html`<tr key=${one.id}>
        <td>${number(one.step)}</td>
        <td>${one.kinds.join(", ")}</td>
        <td>${one.metric ? `${one.metric.name} ${number(metric_value(one.metric.value, one.metric.nonfinite))}` : "–"}</td>
        <td>${one.files.map((file) => html`<a download href=${`/v1/checkpoints/${one.id}/files/${file.name}`}>${file.name}</a> <span class="hint">${bytes(file.bytes)}</span> `)}</td>
      </tr>`)}</tbody>
    </table></div>`}
  </section>`;
}

export function Job({ id }: { id: string }) {
  const feed = useMemo(() => job_feed(id), [id]);
  const [error, set_error] = useState<unknown>();
  useEffect(() => () => feed.close(), [feed]);
  const job = feed.job.value;
  if (!job) return html`<main><p class="hint">Loading…</p><${ErrorNote} error=${feed.error.value} /></main>`;

  const ended = final_states.includes(job.state);
  const acted = (answer: JobObject) => {
    set_error(undefined);
    if (answer.id !== id) location.hash = `#/jobs/${answer.id}`;
    void feed.reload();
  };
  return html`<main>
    <nav aria-label="breadcrumb"><a href="#/">Jobs</a></nav>
    <div class="title"><h1>${job.name}</h1> <${State} state=${job.state} />
      <${JobActions} job=${job} done=${acted} failed=${set_error} />
      ${!ended && html`<span class="hint" role="status">${feed.connection.value}</span>`}
    </div>
    ${job.reason && html`<p class=${job.state === "failed" ? "error" : "hint"}>${job.reason.message}</p>`}
    ${job.state === "failed" && failure_place(job.result) && html`<p class="hint">Failed at ${failure_place(job.result)}.</p>`}
    ${job.state === "queued" && html`<${Waiting} job=${job} />`}
    <${ProgressBar} progress=${job.progress} detailed />
    <${ErrorNote} error=${error ?? feed.error.value} />
    <${Facts} job=${job} />
    ${job.prediction && html`<${Prediction} job=${job} />`}
    ${job.evaluation && html`<${Evaluation} job=${job} />`}
    ${job.kind === "train" && html`<${Training} job=${job} feed=${feed} />`}
    <${Log} lines=${feed.log.value} />
    <details><summary>Job spec</summary><pre>${JSON.stringify(job.prediction ?? job.evaluation ?? job.spec, null, 2)}</pre></details>
  </main>`;
}
