// What a job that does not train has made: the values of a prediction as CSV, the metrics of an evaluation.
import { useEffect, useState } from "preact/hooks";
import { address } from "../api/base";
import { get } from "../api/client";
import type { Evaluation as Measured, Job } from "../api/schema";
import { final_states, metric_value, number } from "../format";
import { html } from "../html";
import { ErrorNote } from "../parts/error_note";
import { NamedLink } from "../parts/named_link";
import { Confusion } from "./confusion";

const has_ended = ({ state }: Job) => final_states.includes(state);

const sides: Record<string, string> = { train: "training", val: "validation" };

const samples_of = (data: Record<string, any>) =>
  data.part ? `part ${data.part}` : data.split === "all" ? "all samples" : `the ${sides[data.split] ?? data.split} samples`;

/** The checkpoint, or those of an ensemble. */
function Source({ from }: { from: Record<string, any> }) {
  if (!from.checkpoints) return html`Checkpoint <code>${from.checkpoint}</code> of <${NamedLink} id=${from.job} />`;
  return html`The mean of ${from.checkpoints.length} checkpoints (${from.checkpoints.map((id: string, index: number) => html`${index > 0 && ", "}<code>${id}</code>`)})`;
}

export function Prediction({ job }: { job: Job }) {
  const { from, data } = job.prediction ?? {};
  return html`<section>
    <h2>Prediction</h2>
    <p><${Source} from=${from} /> over <${NamedLink} id=${data.dataset} />, ${samples_of(data)}.</p>
    ${job.state === "succeeded"
      ? html`<p><a download href=${address(`/v1/predictions/${job.id}/result.csv`)}>${job.name}.csv</a></p>`
      : html`<p class="hint">${has_ended(job) ? "It ended without a result." : "The result is available when it has succeeded."}</p>`}
  </section>`;
}

export function Evaluation({ job }: { job: Job }) {
  const { from, data } = job.evaluation ?? {};
  const [report, set_report] = useState<Measured | undefined>();
  const [error, set_error] = useState<unknown>();
  const succeeded = job.state === "succeeded";
  useEffect(() => {
    if (succeeded) get<Measured>(`/v1/jobs/${job.id}/evaluation`).then(set_report).catch(set_error);
  }, [job.id, succeeded]);
  return html`<section>
    <h2>Evaluation</h2>
    <p><${Source} from=${from} /> on <${NamedLink} id=${data.dataset} />, ${samples_of(data)}.</p>
    <${ErrorNote} error=${error} />
    ${!succeeded && html`<p class="hint">${has_ended(job) ? "It ended without metrics." : "The metrics are available when it has succeeded."}</p>`}
    ${report && html`<div class="scroll" tabindex="0" role="region" aria-label="metrics"><table>
      <thead><tr><th scope="col">metric</th><th scope="col">value</th></tr></thead>
      <tbody>${Object.entries(report.values).map(([name, value]) => html`<tr key=${name}>
        <td>${name}</td><td>${number(metric_value(value, report.nonfinite?.[name]))}</td></tr>`)}
        <tr><td>samples</td><td>${number(report.samples)}</td></tr></tbody>
    </table></div>
    ${report.confusion_matrix && html`<${Confusion} ...${report.confusion_matrix} />`}
    <p><a download=${`${job.name}.json`} href=${address(`/v1/jobs/${job.id}/evaluation`)}>${job.name}.json</a></p>`}
  </section>`;
}
