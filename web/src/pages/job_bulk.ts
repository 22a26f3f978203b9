// An action on many jobs: first what would happen to each, then, when somebody says so, that.
import { useState } from "preact/hooks";
import { post } from "../api/client";
import { may } from "../api/me";
import type { JobBulk, JobBulkItem, JobBulkResult } from "../api/schema";
import { html } from "../html";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";

const actions: JobBulk["action"][] = ["cancel", "pause", "resume", "kill", "delete"];
const path = "/v1/jobs/bulk";

const columns: Column<JobBulkItem>[] = [
  { name: "job", wide: true, cell: (one) => one.name ?? one.job_id },
  { name: "outcome", cell: (one) => one.outcome },
  { name: "state after", cell: (one) => (one.state ? html`<${State} state=${one.state} />` : "gone") },
  { name: "why", wide: true, cell: (one) => one.message ?? "" },
];

const jobs_of = (count: number) => `${count} ${count === 1 ? "job" : "jobs"}`;

function Preview({ body, result, done, cancel }: { body: JobBulk; result: JobBulkResult; done: () => void; cancel: () => void }) {
  const [error, set_error] = useState<unknown>();
  const apply = () => post<JobBulkResult>(path, body).then(done, set_error);
  return html`<section class="card" aria-label="preview">
    <p>${body.action}: ${jobs_of(result.changed)} would change, ${result.unchanged} would not, ${result.refused} refuse.</p>
    <${Table} label="what would happen" columns=${columns} rows=${result.items} key_of=${(one: JobBulkItem) => one.job_id} />
    <${ErrorNote} error=${error} />
    <p><button class="danger" disabled=${result.changed === 0} onClick=${apply}>${body.action} ${jobs_of(result.changed)}</button>
      <button onClick=${cancel}>Do nothing</button></p>
    <${Curls} requests=${[{ label: "Only show what would happen", method: "POST", path: `${path}?dry_run=true`, body }, { label: body.action, method: "POST", path, body }]} />
  </section>`;
}

export function JobBulkBar({ ids, clear, done }: { ids: string[]; clear: () => void; done: () => void }) {
  const [preview, set_preview] = useState<{ body: JobBulk; result: JobBulkResult }>();
  const [error, set_error] = useState<unknown>();
  const ask = async (action: JobBulk["action"]) => {
    const body: JobBulk = { action, filter: { ids } };
    try {
      set_preview({ body, result: await post<JobBulkResult>(`${path}?dry_run=true`, body) });
      set_error(undefined);
    } catch (problem) {
      set_error(problem);
    }
  };
  const finished = () => {
    set_preview(undefined);
    clear();
    done();
  };
  if (ids.length === 0) return null;
  return html`<div class="card" role="group" aria-label="chosen jobs">
      <p class="row">${jobs_of(ids.length)} chosen: ${(may("editor") ? actions : []).map((action) => html`<button key=${action} onClick=${() => ask(action)}>${action}…</button>`)}
        ${ids.length <= 100 && html`<a href=${`#/compare?jobs=${ids.join(",")}`}>Compare</a>`}
        <button class="plain" onClick=${clear}>Choose none</button></p>
      <${ErrorNote} error=${error} />
    </div>
    ${preview && html`<${Preview} ...${preview} done=${finished} cancel=${() => set_preview(undefined)} />`}`;
}
