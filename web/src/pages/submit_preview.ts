// What a job would be before it is submitted: values that follow from its spec, its place in the queue, its learning rate, and what differs from the
// job that it was made from.
import { useMemo } from "preact/hooks";
import type { JobPreview, JobSpec } from "../api/schema";
import { Chart } from "../charts/chart";
import type { Curve } from "../charts/curve";
import { make_view } from "../charts/view";
import { any_value, number, queue_place } from "../format";
import { html } from "../html";
import { value_at } from "../schema_form/pointer";

export type Start = "new" | "continue" | "weights";

export const starts: [Start, string][] = [
  ["new", "as a new job, from the beginning"],
  ["continue", "as a fork: continue from its newest checkpoint"],
  ["weights", "as a fork: begin with the weights of its newest checkpoint"],
];

function schedule_curve({ schedule }: JobPreview): Curve | undefined {
  if (!schedule || schedule.points.length === 0) return undefined;
  const points = schedule.points.map(({ step, lr }) => ({ step, value: lr, epoch: 0, time_ms: 0 }));
  return { name: "lr", points, steps_per_epoch: schedule.steps_per_epoch ?? undefined, start_ms: 0 };
}

export function Preview({ preview }: { preview: JobPreview }) {
  const view = useMemo(make_view, []);
  const { effective, queue, schedule } = preview;
  const curve = schedule_curve(preview);
  const facts: [string, unknown][] = [
    ["cores", effective.world_size],
    ["global batch", effective.global_batch],
    ["learning rate", number(effective.lr)],
    ["steps", schedule ? number(schedule.steps_total) : "known when it runs"],
    ["steps per epoch", number(schedule?.steps_per_epoch)],
  ];
  return html`<section class="card" role="region" aria-label="what the job would be"><h2>It would be accepted</h2>
    <p>${queue_place(queue.position)}</p>
    <dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value ?? "–"}</dd></div>`)}</dl>
    ${curve && html`<${Chart} title="Learning rate" y_title="lr" curves=${[curve]} view=${view} revision=${0} />`}
  </section>`;
}

export function Changes({ before, spec, pointers }: { before: JobSpec; spec: JobSpec; pointers: string[] }) {
  if (pointers.length === 0) return html`<p class="hint">Nothing is changed yet.</p>`;
  const cell = (value: unknown) => (value === undefined ? "not set" : any_value(value));
  return html`<h2>Changes</h2><div class="scroll" tabindex="0" role="region" aria-label="changes"><table>
    <thead><tr><th scope="col">field</th><th scope="col">was</th><th scope="col">is</th></tr></thead>
    <tbody>${pointers.map((pointer) => html`<tr key=${pointer}><th scope="row">${pointer.slice(1).replaceAll("/", ".")}</th>
      <td class="wide">${cell(value_at(before, pointer))}</td><td class="wide">${cell(value_at(spec, pointer))}</td></tr>`)}</tbody></table></div>`;
}
