// A curve is its points in order of steps. A point that stands for many says what was the least and the most of them.
import type { MetricPoint } from "../api/schema";
import { metric_value } from "../format";

export interface Point {
  step: number;
  epoch: number;
  time_ms: number;
  value: number;
  min?: number;
  max?: number;
}

export interface Curve {
  name: string; // "val_loss", or on a page of several jobs "points-3"
  points: Point[];
  steps_per_epoch?: number;
  start_ms: number; // what time is counted from
}

export type XAxis = "step" | "epoch" | "time";

export function point_of(point: MetricPoint): Point {
  const bounds = point.count && point.count > 1 ? { min: metric_value(point.min), max: metric_value(point.max) } : {};
  return { step: point.step, epoch: point.epoch, time_ms: Date.parse(point.time), value: metric_value(point.value, point.nonfinite), ...bounds };
}

/** Index of the first point at or after `step`. */
export function place_of(points: Point[], step: number): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle].step < step) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A resumed attempt repeats steps: what it says of one takes the place of what was said before. */
export function add_point(points: Point[], point: Point) {
  const place = place_of(points, point.step);
  points.splice(place, points[place]?.step === point.step ? 1 : 0, point);
}

/** Epochs are counted in steps, so that points within one do not stand on each other. */
export function x_of(curve: Curve, point: Point, axis: XAxis): number {
  if (axis === "step") return point.step;
  if (axis === "time") return (point.time_ms - curve.start_ms) / 1000;
  return curve.steps_per_epoch ? point.step / curve.steps_per_epoch : point.epoch;
}

/** The point nearest to `x`; none beyond the ends of the curve. Points are in order of any axis but for repeated attempts' times. */
export function nearest(curve: Curve, x: number, axis: XAxis): Point | undefined {
  const { points } = curve;
  if (points.length === 0) return undefined;
  let low = 0;
  let high = points.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (x_of(curve, points[middle], axis) <= x) low = middle;
    else high = middle;
  }
  const distance = (index: number) => Math.abs(x_of(curve, points[index], axis) - x);
  return points[distance(low) <= distance(high) ? low : high];
}
