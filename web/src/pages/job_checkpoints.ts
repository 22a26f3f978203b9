// The checkpoints of a job: what each is kept for, its files, its weights for other frameworks; keeping one that would be pruned.
import { useState } from "preact/hooks";
import { address } from "../api/base";
import { post } from "../api/client";
import { may } from "../api/me";
import type { Checkpoint, Job } from "../api/schema";
import { bytes, metric_value, number } from "../format";
import { html } from "../html";
import { Curls, type Request } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { Table, type Column } from "../parts/table";

const path_of = ({ id }: Checkpoint) => `/v1/checkpoints/${id}`;

const kept_as = ({ kinds, pinned }: Checkpoint) => [...kinds, ...(pinned ? ["pinned"] : [])].join(", ") || "–";

function columns_of(pin: (one: Checkpoint) => void, writes: boolean): Column<Checkpoint>[] {
  return [
    { name: "step", cell: (one) => number(one.step) },
    { name: "kept as", cell: kept_as },
    { name: "metric", cell: (one) => (one.metric ? `${one.metric.name} ${number(metric_value(one.metric.value, one.metric.nonfinite))}` : "–") },
    { name: "files", wide: true, cell: (one) => one.files.map((file) =>
      html`<span class="file" key=${file.name}><a download href=${address(`${path_of(one)}/files/${file.name}`)}>${file.name}</a> <span class="hint">${bytes(file.bytes)}</span></span> `) },
    { name: "for other frameworks", cell: (one) => html`<a download=${`${one.name}.safetensors`} href=${address(`${path_of(one)}/weights.safetensors`)}>weights</a>` },
    ...(writes ? [{ name: "action", cell: (one: Checkpoint) => html`<button class="small" title=${one.pinned ? "Allow it to be pruned again" : "Keep it until it is unpinned"}
      aria-label=${`${one.pinned ? "Unpin" : "Pin"} the checkpoint of step ${one.step}`} onClick=${() => pin(one)}>${one.pinned ? "Unpin" : "Pin"}</button>` }] : []),
  ];
}

function requests_of(one: Checkpoint, writes: boolean): Request[] {
  const read: Request[] = [...one.files.map((file): Request => ({ label: file.name, method: "GET", path: `${path_of(one)}/files/${file.name}` })),
    { label: "Weights for other frameworks", method: "GET", path: `${path_of(one)}/weights.safetensors` }];
  const kept: Request[] = [["Keep it until it is unpinned", "pin"], ["Let it be pruned again", "unpin"]].map(([label, verb]) => ({ label, method: "POST", path: `${path_of(one)}/${verb}` }));
  return [...read, ...(writes ? kept : [])];
}

interface CheckpointsProps {
  job: Job;
  checkpoints: Checkpoint[];
  ended: boolean;
  changed: () => void;
}

export function Checkpoints({ job, checkpoints, ended, changed }: CheckpointsProps) {
  const [refused, set_refused] = useState<unknown>();
  const pin = (one: Checkpoint) => {
    set_refused(undefined);
    post(`${path_of(one)}/${one.pinned ? "unpin" : "pin"}`).then(changed, set_refused);
  };
  return html`<section>
    <h2>Checkpoints</h2>
    <${ErrorNote} error=${refused} />
    ${checkpoints.length === 0
      ? html`<p class="hint">${ended ? "None was kept." : "None yet: the first one is saved after an epoch, or with Save checkpoint."}</p>`
      : html`<${Table} label="checkpoints" columns=${columns_of(pin, may("editor", job.project))} rows=${checkpoints} key_of=${(one: Checkpoint) => one.id} />
        <${Curls} of="the newest checkpoint" requests=${requests_of(checkpoints[0], may("editor", job.project))} />`}
  </section>`;
}
