// What a chart draws, as lines, areas and words in pixels: the canvas and the SVG file paint the same list, so that they show the same.
import { type Curve, type Point, x_of } from "./curve";
import { colour_of, dash_of } from "./palette";
import { smoothed } from "./smoothing";
import type { View } from "./view";

export interface Shape {
  kind: "line" | "area" | "dots" | "word";
  colour: string;
  opacity: number;
  width: number;
  dash: number[];
  points: number[]; // x and y of each in turn: curves of many runs are tens of thousands of points
  word?: string;
}

export interface Frame {
  x: (value: number) => number;
  y: (value: number) => number;
  x_min: number;
  x_max: number;
  top: number;
  bottom: number;
  scale: number; // pixels of the canvas for one of the page
}

const dotted_below = 40; // so few points are shown one by one
const raw_opacity = 0.3; // under the smoothed line
const area_opacity = 0.25;
const outline_opacity = 0.4;
const line_px = 1.75;
const thin_px = 1;

/** Where the points in sight begin and end, with one beyond each end, so that lines go on to the edge. */
function in_sight(xs: number[], { x_min, x_max }: Frame): [number, number] {
  const first = xs.findIndex((x) => x >= x_min);
  if (first < 0) return [0, 0];
  let end = xs.length;
  while (end > first && xs[end - 1] > x_max) end--;
  return [Math.max(0, first - 1), end + 1];
}

/** Positions, broken where a value or a place is no number: each run of finite ones is a line of its own. `xs` are positions already. */
function runs(xs: number[], values: number[], { y }: Frame, log_y: boolean): number[][] {
  const found: number[][] = [];
  let run: number[] | undefined;
  for (let index = 0; index < xs.length; index++) {
    const value = values[index];
    if (!Number.isFinite(value) || !Number.isFinite(xs[index]) || (log_y && value <= 0)) run = undefined;
    else {
      if (!run) found.push((run = []));
      run.push(xs[index], y(value));
    }
  }
  return found;
}

/** Areas between the least and the greatest of the values that points stand for; a point that is one value has none, and ends an area. */
function envelopes(points: Point[], xs: number[], { y, bottom }: Frame, log_y: boolean): number[][] {
  const place = (value: number) => (log_y && value <= 0 ? bottom : y(value));
  const is_bounded = ({ min, max }: Point, index: number) => Number.isFinite(min) && Number.isFinite(max) && Number.isFinite(xs[index]);
  const found: number[][] = [];
  for (let first = 0; first < points.length; first++) {
    let end = first;
    while (end < points.length && is_bounded(points[end], end)) end++;
    if (end - first > 1) {
      const area: number[] = [];
      for (let index = first; index < end; index++) area.push(xs[index], place(points[index].max!));
      for (let index = end - 1; index >= first; index--) area.push(xs[index], place(points[index].min!));
      found.push(area);
    }
    first = end;
  }
  return found;
}

const word_half_px = 14;

function not_finite(points: Point[], xs: number[], frame: Frame): { word: string; at: number[] }[] {
  return points.flatMap(({ value }, index) => {
    if (Number.isFinite(value) || !Number.isFinite(xs[index])) return [];
    const room = word_half_px * frame.scale; // a word at an end of the axis is not cut off
    const at = Math.max(frame.x(frame.x_min) + room, Math.min(frame.x(frame.x_max) - room, xs[index]));
    return [{ word: Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞", at: [at, value > 0 ? frame.top + 12 * frame.scale : frame.bottom - 4 * frame.scale] }];
  });
}

const words_max = 20; // of values that are not finite; where all are, the first ones say it

/** `many`: the curve is one of so many that its lines are thin and its area is an outline; a browser paints both several times as fast. */
export function shapes_of(curve: Curve, index: number, view: View, frame: Frame, many: boolean): Shape[] {
  const all_xs = curve.points.map((point) => x_of(curve, point, view.x_axis.value));
  const sight = in_sight(all_xs, frame);
  const points = curve.points.slice(...sight);
  const xs = all_xs.slice(...sight).map(frame.x);
  const values = points.map((point) => point.value);
  const log_y = view.log_y.value;
  const factor = view.smoothing.value;
  const common = { colour: colour_of(index), dash: dash_of(index).map((length) => length * frame.scale), width: (many ? thin_px : line_px) * frame.scale };
  const line = (of: number[], opacity: number): Shape[] =>
    runs(xs, of, frame, log_y).map((run) => ({ ...common, kind: run.length === 2 ? "dots" : "line", opacity, points: run }));
  const area = (points: number[]): Shape =>
    many ? { ...common, kind: "line", dash: [], opacity: outline_opacity, points: [...points, points[0], points[1]] } : { ...common, kind: "area", opacity: area_opacity, points };
  const shapes: Shape[] = envelopes(points, xs, frame, log_y).map(area);
  shapes.push(...line(values, factor > 0 ? raw_opacity : 1));
  if (factor > 0) shapes.push(...line(smoothed(curve.points.map((point) => point.value), factor).slice(...sight), 1));
  else if (points.length < dotted_below) shapes.push(...line(values, 1).map((shape): Shape => ({ ...shape, kind: "dots" })));
  for (const { word, at } of not_finite(points, xs, frame).slice(0, words_max)) shapes.push({ ...common, kind: "word", opacity: 1, points: at, word });
  return shapes;
}
