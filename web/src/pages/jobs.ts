// The job list: newest first, read again when the stream of events says that it has changed.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Job, List } from "../api/job";
import { number, time } from "../format";
import { html } from "../html";
import { watch } from "../live";
import type { ProjectEvent } from "../live";
import { ErrorNote } from "../parts/error_note";
import { ProgressBar } from "../parts/progress_bar";
import { State } from "../parts/state";

const reload_pause_ms = 500; // a burst of changes is read together
const poll_ms = 5000; // while there is no stream

function cores(spec: Record<string, any>): string {
  const asked = spec.accelerator ?? {};
  return asked.core_ids ? `core ${asked.core_ids.join(", ")}` : String(asked.cores ?? 1);
}

function Row({ job }: { job: Job }) {
  return html`<tr>
    <td><a href=${`#/jobs/${job.id}`}>${job.name}</a></td>
    <td>${job.kind}</td>
    <td><${State} state=${job.state} /></td>
    <td><${ProgressBar} progress=${job.progress} /></td>
    <td>${job.best ? `${job.best.metric} ${number(job.best.value)}` : "–"}</td>
    <td>${job.spec?.model?.arch ?? ""}</td>
    <td>${cores(job.spec ?? {})}</td>
    <td>${time(job.created_at)}</td>
  </tr>`;
}

export function Jobs() {
  const [jobs, set_jobs] = useState<Job[]>();
  const [cursor, set_cursor] = useState<string | null>();
  const [error, set_error] = useState<unknown>();
  const [limit, set_limit] = useState(50);

  useEffect(() => {
    let stopped = false;
    let reload_soon = 0;
    const reload = async () => {
      try {
        const list = await get<List<Job>>(`/v1/jobs?limit=${limit}`);
        if (stopped) return;
        set_jobs(list.items);
        set_cursor(list.next_cursor);
        set_error(undefined);
      } catch (problem) {
        set_error(problem);
      }
    };
    const schedule = () => {
      if (!reload_soon) reload_soon = window.setTimeout(() => reload().finally(() => (reload_soon = 0)), reload_pause_ms);
    };
    const on_event = ({ type, job_id, body }: ProjectEvent) => {
      if (type !== "progress") return schedule();
      const progress = body as Job["progress"];
      set_jobs((shown) => shown?.map((job) => (job.id === job_id ? { ...job, progress } : job)));
    };
    const stream = watch(on_event, schedule);
    const timer = window.setInterval(() => stream.connection.value !== "live" && schedule(), poll_ms);
    reload();
    return () => {
      stopped = true;
      stream.close();
      clearInterval(timer);
      clearTimeout(reload_soon);
    };
  }, [limit]);

  return html`<main>
    <h1>Jobs</h1>
    <${ErrorNote} error=${error} />
    ${jobs?.length === 0 &&
    html`<p>No job yet. Submit the first one:</p>
      <pre>${`curl -sS -H "Authorization: Bearer $SLIPWAY_TOKEN" -H 'Content-Type: application/json' \\
  ${location.origin}/v1/jobs -d @job.json`}</pre>`}
    ${jobs && jobs.length > 0 &&
    html`<div class="scroll" tabindex="0" role="region" aria-label="jobs"><table>
      <thead><tr>
        <th scope="col">name</th><th scope="col">kind</th><th scope="col">state</th><th scope="col">progress</th><th scope="col">best</th>
        <th scope="col">model</th><th scope="col">cores</th><th scope="col">created</th>
      </tr></thead>
      <tbody>${jobs.map((job) => html`<${Row} key=${job.id} job=${job} />`)}</tbody>
    </table></div>`}
    ${cursor && limit < 200 && html`<button onClick=${() => set_limit(200)}>Show more</button>`}
    ${cursor && limit >= 200 && html`<p class="hint">The newest 200 jobs; older ones: GET /v1/jobs with cursor.</p>`}
  </main>`;
}
