// One plot: uPlot has the axes, the drag and the cursor; the curves are painted by us, because each has x values of its own. The usual table
// with a row for each x of any curve grows with their product: 100 runs of 500 points would be five million cells.
import uPlot from "uplot";
import type { Curve } from "./curve";
import { x_extent, y_extent } from "./extent";
import { paint } from "./paint";
import { ink } from "./palette";
import { type Frame, type Shape, shapes_of } from "./shapes";
import { linear_ticks, log_ticks, with_room } from "./tick_places";
import { count_tick_labels, log_tick_labels, tick_labels, time_tick_labels } from "./ticks";
import type { Range, View } from "./view";

export const height_px = 260;
const edge_px = 3;
export const label_space_px = { x: 70, y: 30 };
const many_curves = 16;

export interface PlotInputs {
  element: HTMLElement;
  y_title: string;
  curves: () => { curve: Curve; index: number }[]; // those that are shown, and their places in the palette
  view: View;
  zoomed: (range: Range) => void;
  hovered: (x: number | undefined) => void;
}

/** uPlot's own places of values, for tens of thousands of them: as the line through those of the two ends. */
function places(plot: uPlot, scale: "x" | "y", log: boolean): (value: number) => number {
  const { min, max } = plot.scales[scale];
  const from = log ? Math.log10(min!) : min!;
  const first = plot.valToPos(min!, scale, true);
  const slope = (plot.valToPos(max!, scale, true) - first) / ((log ? Math.log10(max!) : max!) - from);
  return log ? (value) => first + slope * (Math.log10(value) - from) : (value) => first + slope * (value - from);
}

function frame_of(plot: uPlot, { log_x, log_y }: View): Frame {
  const { top, height } = plot.bbox;
  return {
    x: places(plot, "x", log_x.value),
    y: places(plot, "y", log_y.value),
    x_min: plot.scales.x.min!,
    x_max: plot.scales.x.max!,
    top,
    bottom: top + height,
    scale: devicePixelRatio,
  };
}

export function shapes_in(plot: uPlot, { curves, view }: PlotInputs): Shape[] {
  const frame = frame_of(plot, view);
  const shown = curves();
  return shown.flatMap(({ curve, index }) => shapes_of(curve, index, view, frame, shown.length > many_curves));
}

function draw(plot: uPlot, inputs: PlotInputs) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  const edge = edge_px * devicePixelRatio; // points at the ends of the axis are whole
  ctx.rect(bbox.left - edge, bbox.top - edge, bbox.width + 2 * edge, bbox.height + 2 * edge);
  ctx.clip();
  paint(ctx, shapes_in(plot, inputs));
  ctx.restore();
}

const some_width = 5; // uPlot wants to know the decimals of a narrower one

/** Marks of an axis instead of uPlot's: it is given the whole range as the distance of two of them, so that it says how long the axis is. */
function marks(scale: "x" | "y", log: boolean): uPlot.Axis {
  const space = label_space_px[scale];
  const find = log ? log_ticks : linear_ticks;
  return {
    scale,
    space,
    incrs: (_, __, min, max) => [Math.max(some_width, max - min)],
    splits: (_, __, min, max, width, width_px) => find(min, max, Math.max(1, Math.floor((((max - min) / width) * width_px) / space))),
    filter: (plot, values) => (log ? with_room(values, (value) => plot.valToPos(value, scale), space) : values),
  };
}

function axes(view: View, y_title: string): uPlot.Axis[] {
  const { text, grid } = ink();
  const common = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { show: false }, labelSize: 18, labelGap: 0, labelFont: "12px system-ui, sans-serif", font: "12px system-ui, sans-serif" };
  const x_labels = view.log_x.value ? log_tick_labels : view.x_axis.value === "time" ? time_tick_labels : count_tick_labels;
  const y_labels = view.log_y.value ? log_tick_labels : tick_labels;
  const x_title = view.x_axis.value === "time" ? "time since the start" : view.x_axis.value;
  return [
    { ...common, ...marks("x", view.log_x.value), label: x_title, size: 34, values: (_, ticks) => x_labels(ticks) },
    { ...common, ...marks("y", view.log_y.value), label: y_title, size: 62, values: (_, ticks) => y_labels(ticks) },
  ];
}

function extents({ curves, view }: PlotInputs): { x: Range; y: Range } {
  const shown = curves().map(({ curve }) => curve);
  const x = x_extent(shown, view);
  return { x, y: y_extent(shown, view, x) };
}

/** Makes the scales fit what the curves are now. The zoom stays. */
export function refit(plot: uPlot, inputs: PlotInputs) {
  const { x, y } = extents(inputs);
  plot.batch(() => {
    plot.setData([[x.min, x.max], [y.min, y.max]], false);
    plot.setScale("x", x);
    plot.setScale("y", y);
  });
}

/** It is drawn once, before the next frame: with a refit after it the first drawing would be thrown away. */
export function make_plot(inputs: PlotInputs): uPlot {
  const { element, view, y_title, zoomed, hovered } = inputs;
  const { x, y } = extents(inputs);
  const scale = (log: boolean, range: Range): uPlot.Scale => ({ time: false, auto: false, distr: log ? 3 : 1, range: (_, min, max) => [min, max], ...range });
  return new uPlot(
    {
      width: element.clientWidth || 480,
      height: height_px,
      legend: { show: false },
      scales: { x: scale(view.log_x.value, x), y: scale(view.log_y.value, y) },
      axes: axes(view, y_title),
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false, bind: { dblclick: () => null } },
      series: [{}, { show: true, paths: () => null, points: { show: false } }],
      hooks: {
        draw: [(self) => draw(self, inputs)],
        setSelect: [
          (self) => {
            const { left, width } = self.select;
            if (width < 4) return;
            zoomed({ min: self.posToVal(left, "x"), max: self.posToVal(left + width, "x") });
            self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          },
        ],
        setCursor: [(self) => hovered(self.cursor.left! >= 0 ? self.posToVal(self.cursor.left!, "x") : undefined)],
      },
    },
    [[x.min, x.max], [y.min, y.max]],
    element,
  );
}
