// A trial becomes a job of its own: first what that job would be, then, when somebody says so, the job.
import { useState } from "preact/hooks";
import { post } from "../api/client";
import type { Job, SweepPromote } from "../api/schema";
import { html } from "../html";
import { go } from "../route";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";

const starts: [NonNullable<SweepPromote["start"]>, string][] = [
  ["continue", "continue from the trial's checkpoint"],
  ["weights", "begin with the weights of its checkpoint"],
  ["scratch", "start again"],
];

interface PromoteProps {
  sweep: string;
  best: number;
  of_folds: boolean; // trials that are cross-validations have no checkpoint of their own
}

export function Promote({ sweep, best, of_folds }: PromoteProps) {
  const [trial, set_trial] = useState(best);
  const [start, set_start] = useState(of_folds ? "scratch" : "continue");
  const [preview, set_preview] = useState<Record<string, any>>();
  const [error, set_error] = useState<unknown>();
  const path = `/v1/sweeps/${sweep}/promote`;
  const body = { trial, start };
  const value_of = (event: Event) => (event.target as HTMLInputElement).value;
  const changed = (apply: () => void) => {
    apply();
    set_preview(undefined);
    set_error(undefined);
  };
  const ask = (event: Event) => {
    event.preventDefault();
    post<Record<string, any>>(`${path}?dry_run=true`, body).then(set_preview, set_error);
  };
  const promote = () => post<Job>(path, body).then((job) => go(`/jobs/${job.id}`), set_error);
  return html`<details class="card"><summary>Promote a trial to a job</summary>
    <form class="controls" onSubmit=${ask}>
      <label>Trial <input type="number" min="0" value=${trial} onInput=${(event: Event) => changed(() => set_trial(Number(value_of(event))))} /></label>
      <label>Start <select value=${start} onChange=${(event: Event) => changed(() => set_start(value_of(event)))}>
        ${starts.filter(([name]) => !of_folds || name === "scratch").map(([name, words]) => html`<option key=${name} value=${name} selected=${name === start}>${words}</option>`)}</select></label>
      <button type="submit">Show the job…</button>
    </form>
    <${ErrorNote} error=${error} />
    ${preview && html`<pre tabindex="0" aria-label="the job">${JSON.stringify(preview.spec ?? preview, null, 2)}</pre><p><button onClick=${promote}>Submit this job</button></p>`}
    <${Curls} requests=${[{ label: "Only show the job", method: "POST", path: `${path}?dry_run=true`, body }, { label: "Promote", method: "POST", path, body }]} />
  </details>`;
}
