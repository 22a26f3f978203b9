// What can be changed about all charts of a page.
import { html } from "../html";
import type { XAxis } from "./curve";
import { keep_view, smoothing_max, x_axes, type View } from "./view";

const value_of = (event: Event) => (event.target as HTMLInputElement).value;
const checked = (event: Event) => (event.target as HTMLInputElement).checked;

export function ChartControls({ view }: { view: View }) {
  const change = (apply: () => void) => {
    apply();
    keep_view(view);
  };
  const set_axis = (axis: XAxis) => change(() => {
    view.x_axis.value = axis;
    view.zoom.value = undefined; // its bounds are of the other axis
  });
  return html`<div class="controls" role="group" aria-label="charts">
    <label>x axis <select value=${view.x_axis.value} onChange=${(event: Event) => set_axis(value_of(event) as XAxis)}>
      ${x_axes.map((axis) => html`<option key=${axis} value=${axis}>${axis}</option>`)}</select></label>
    <label>Smoothing <input type="range" min="0" max=${smoothing_max} step="0.01" value=${view.smoothing.value}
      onInput=${(event: Event) => change(() => (view.smoothing.value = Number(value_of(event))))} /> <output>${view.smoothing.value.toFixed(2)}</output></label>
    <label><input type="checkbox" checked=${view.log_x.value} onChange=${(event: Event) => change(() => (view.log_x.value = checked(event)))} /> log x</label>
    <label><input type="checkbox" checked=${view.log_y.value} onChange=${(event: Event) => change(() => (view.log_y.value = checked(event)))} /> log y</label>
    ${view.zoom.value && html`<button onClick=${() => change(() => (view.zoom.value = undefined))}>Show all</button>`}
    <span class="hint">Drag to zoom, double-click to show all.</span>
  </div>`;
}
