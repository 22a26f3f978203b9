// The curves of a chart by name, with what each is under the cursor, or its last value. A click hides one.
import { html } from "../html";
import { type Curve, nearest } from "./curve";
import { colour_of, dash_of } from "./palette";
import { place_words, value_words } from "./reading";
import { scheme_revision } from "./scheme";
import type { View } from "./view";

function Key({ index }: { index: number }) {
  void scheme_revision.value; // colours follow the scheme
  return html`<svg class="key" width="22" height="10" aria-hidden="true"><line x1="1" x2="21" y1="5" y2="5" stroke=${colour_of(index)}
    stroke-width="3" stroke-dasharray=${dash_of(index).join(" ")} /></svg>`;
}

interface Entry { curve: Curve; index: number; hidden: boolean }

export function Legend({ entries, view, toggle }: { entries: Entry[]; view: View; toggle: (name: string) => void }) {
  const x = view.hover.value;
  const axis = view.x_axis.value;
  return html`<ul class="legend">${entries.map(({ curve, index, hidden }) => {
    const point = x === undefined ? curve.points.at(-1) : nearest(curve, x, axis);
    return html`<li key=${curve.name}><button class="legend-entry" aria-pressed=${!hidden} title=${hidden ? "Show" : "Hide"} onClick=${() => toggle(curve.name)}>
      <${Key} index=${index} /><span class="legend-name">${curve.name}</span></button>
      <span class="legend-value">${value_words(point)}</span> <span class="hint">${point && place_words(curve, point, axis)}</span></li>`;
  })}</ul>`;
}
