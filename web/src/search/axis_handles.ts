// The ends of the brush of each axis, for the keyboard: sliders, which say the value that they are at. Pointers brush on the canvas below them.
import { html } from "../html";
import type { Axis } from "./axis";
import { type Brush, type Brushes, x_of, y_of } from "./parallel_layout";

const step = 0.01; // of the axis
const long_step = 0.1;
const whole: Brush = [0, 1];

/** What a key makes of a place; undefined: it is no key of a slider. */
function moved({ key, shiftKey }: KeyboardEvent, place: number): number | undefined {
  const by = shiftKey ? long_step : step;
  const places: Record<string, number> = {
    ArrowUp: place + by, ArrowRight: place + by, ArrowDown: place - by, ArrowLeft: place - by,
    PageUp: place + long_step, PageDown: place - long_step, Home: 0, End: 1,
  };
  const to = places[key];
  return to === undefined ? undefined : Math.min(1, Math.max(0, +to.toFixed(4)));
}

interface HandlesProps {
  axes: Axis[];
  brushes: Brushes;
  width: number;
  brush: (axis: Axis, range: Brush | undefined) => void; // none: the axis keeps all trials
}

export function AxisHandles({ axes, brushes, width, brush }: HandlesProps) {
  const handle = (axis: Axis, index: number, end: 0 | 1) => {
    const range = brushes.get(axis.name) ?? whole;
    const place = range[end];
    const on_key = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const to = event.key === "Escape" ? undefined : moved(event, place);
      if (event.key !== "Escape" && to === undefined) return;
      event.preventDefault();
      if (to === undefined) return brush(axis, undefined);
      // An end stops at the other one.
      const next: Brush = end === 0 ? [Math.min(to, range[1]), range[1]] : [range[0], Math.max(to, range[0])];
      brush(axis, next[0] === 0 && next[1] === 1 ? undefined : next);
    };
    return html`<span key=${`${axis.name} ${end}`} class="axis-handle" role="slider" tabindex="0" aria-orientation="vertical" aria-label=${`${axis.name}, ${end === 0 ? "from" : "to"}`}
      aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(100 * place)} aria-valuetext=${axis.label_at(place)} onKeyDown=${on_key}
      style=${{ left: `${x_of(index, axes.length, width)}px`, top: `${y_of(place)}px` }}></span>`;
  };
  return html`${axes.map((axis, index) => [handle(axis, index, 0), handle(axis, index, 1)])}`;
}
