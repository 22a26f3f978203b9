// The objective over one parameter: a dot for each trial, which leads to its job.
import { useSignal } from "@preact/signals";
import type { SweepTrial } from "../api/schema";
import { number } from "../format";
import { html } from "../html";
import { href } from "../route";
import { across, go_by_arrows, stop_of } from "../parts/arrow_stops";
import type { Axis } from "./axis";

const width = 480;
const height = 260;
const margin = { left: 62, right: 16, top: 12, bottom: 40 };
const inset = 8; // dots at the ends do not touch the axes
const x_of = (place: number) => margin.left + inset + place * (width - margin.left - margin.right - 2 * inset);
const y_of = (place: number) => height - margin.bottom - inset - place * (height - margin.top - margin.bottom - 2 * inset);

export function Scatter({ trials, axes }: { trials: SweepTrial[]; axes: Axis[] }) {
  const wanted = useSignal(axes[0].name);
  const objective = axes.at(-1)!;
  const axis = axes.find(({ name }) => name === wanted.value) ?? axes[0];
  const dots = trials.flatMap((trial) => {
    const [x, y] = [axis.place(trial), objective.place(trial)];
    return x === undefined || y === undefined ? [] : [{ trial, x: x_of(x), y: y_of(y) }];
  });
  let stops = 0;
  const dot = ({ trial, x, y }: (typeof dots)[number]) => html`<circle class="dot" cx=${x} cy=${y} r="4"><title>trial ${trial.number}: ${number(trial.value)}</title></circle>`;
  return html`<figure class="chart"><figcaption>${objective.name} over <select class="inline" aria-label="parameter" value=${axis.name}
      onChange=${(event: Event) => (wanted.value = (event.target as HTMLSelectElement).value)}>
      ${axes.slice(0, -1).map(({ name }) => html`<option key=${name} value=${name}>${name}</option>`)}</select></figcaption>
    <svg class="scatter" viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${`${objective.name} of ${dots.length} trials over ${axis.name}; the table has the values; arrows go from dot to dot`}
        onKeyDown=${go_by_arrows(across)}>
      <path class="rule" d=${`M${margin.left} ${margin.top}V${height - margin.bottom}H${width - margin.right}`} />
      ${axis.ends[0] === axis.ends[1] ? html`<text x=${x_of(0.5)} y=${height - 22} text-anchor="middle">${axis.ends[0]}</text>`
        : html`<text x=${margin.left} y=${height - 22}>${axis.ends[0]}</text><text x=${width - margin.right} y=${height - 22} text-anchor="end">${axis.ends[1]}</text>`}
      <text x=${margin.left - 6} y=${height - margin.bottom} text-anchor="end">${objective.ends[0]}</text><text x=${margin.left - 6} y=${margin.top + 8} text-anchor="end">${objective.ends[1]}</text>
      <text x=${(width + margin.left) / 2} y=${height - 6} text-anchor="middle">${axis.name}</text>
      ${dots.map((one) => (one.trial.job_id ? html`<a tabindex=${stop_of(stops++)} key=${one.trial.number} href=${href(`/jobs/${one.trial.job_id}`)} aria-label=${`trial ${one.trial.number}: ${number(one.trial.value)}`}>${dot(one)}</a>` : dot(one)))}
    </svg></figure>`;
}
