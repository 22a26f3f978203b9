// The curves of a chart by name, with what each is under the cursor, or its last value. A click hides one.
import { html } from "../html";
import { clock, number } from "../format";
import { type Curve, type Point, nearest, x_of } from "./curve";
import { colour_of, dash_of } from "./palette";
import { scheme_revision } from "./scheme";
import type { View } from "./view";

function Key({ index }: { index: number }) {
  void scheme_revision.value; // colours follow the scheme
  return html`<svg class="key" width="22" height="10" aria-hidden="true"><line x1="1" x2="21" y1="5" y2="5" stroke=${colour_of(index)}
    stroke-width="3" stroke-dasharray=${dash_of(index).join(" ")} /></svg>`;
}

function words(point: Point | undefined): string {
  if (!point) return "–";
  const spread = point.min !== undefined && point.max !== undefined && point.min !== point.max ? ` (${number(point.min)} to ${number(point.max)})` : "";
  return `${number(point.value)}${spread}`;
}

interface Entry { curve: Curve; index: number; hidden: boolean }

export function Legend({ entries, view, toggle }: { entries: Entry[]; view: View; toggle: (name: string) => void }) {
  const x = view.hover.value;
  const axis = view.x_axis.value;
  return html`<ul class="legend">${entries.map(({ curve, index, hidden }) => {
    const point = x === undefined ? curve.points.at(-1) : nearest(curve, x, axis);
    const at = point && (axis === "time" ? clock(new Date(point.time_ms).toISOString()) : `${axis} ${number(+x_of(curve, point, axis).toFixed(2))}`);
    return html`<li key=${curve.name}><button class="legend-entry" aria-pressed=${!hidden} title=${hidden ? "Show" : "Hide"} onClick=${() => toggle(curve.name)}>
      <${Key} index=${index} /><span class="legend-name">${curve.name}</span></button>
      <span class="legend-value">${words(point)}</span> <span class="hint">${at}</span></li>`;
  })}</ul>`;
}
