// Where a job's time goes: the verdict, the shares it rests on, how busy each core is.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { address } from "../api/base";
import { get } from "../api/client";
import type { Job, Report } from "../api/schema";
import { duration, final_states } from "../format";
import { html } from "../html";

const renew_every_ms = 10000;
const names: [string, string][] = [
  ["compute", "matmuls and convolutions"],
  ["memory", "moving data"],
  ["sync", "all-reduce, barrier wait"],
  ["input", "waiting for data"],
  ["transfer", "binding and reading"],
  ["compile", "tracing and compiling"],
];
const percent = (share: number) => `${Math.round(100 * share)} %`;

/** Shown once the job has `begun`, which its first metrics show: from then on there is a report. */
export function TimeShares({ job, begun, children }: { job: Job; begun: boolean; children?: ComponentChildren }) {
  const [report, set_report] = useState<Report | undefined>(undefined);
  const ended = final_states.includes(job.state);
  useEffect(() => {
    if (!begun) return;
    const ask = () => get<Report>(`/v1/jobs/${job.id}/report`).then(set_report).catch(() => undefined);
    ask();
    if (ended) return;
    const timer = setInterval(ask, renew_every_ms);
    return () => clearInterval(timer);
  }, [job.id, begun, ended]);
  if (!report) return null;
  const { verdict } = report;
  const busy = report.cores.map((core) => `core ${core.core} ${percent(core.busy_share)}`).join(", ");
  return html`<section>
    <h2>Where the time goes</h2>
    <p>${verdict.message}${verdict.field && html` Setting: <code>${verdict.field}</code>.`}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="shares of the time"><table><tbody>${names.map(([key, name]) => html`<tr key=${key}>
      <th scope="row">${name}</th>
      <td class="bar"><progress max="1" value=${verdict.shares[key]} aria-label=${`${name}: ${percent(verdict.shares[key])}`}></progress></td>
      <td>${percent(verdict.shares[key])}</td>
    </tr>`)}</tbody></table></div>
    <p class="hint">The steps took ${duration(report.phases.execute)}. Busy: ${busy}.${" "}
      <a href=${address(`/v1/jobs/${job.id}/report?format=text`)}>Report</a>, <a download="trace.json" href=${address(`/v1/jobs/${job.id}/trace`)}>trace</a></p>
    ${children}
  </section>`;
}
