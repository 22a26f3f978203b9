// What the axes of a chart span.
import { type Curve, x_of } from "./curve";
import type { Range, View } from "./view";

const margin = 0.05;

/** All of the curves, or where somebody has zoomed to. */
export function x_extent(curves: Curve[], view: View): Range {
  if (view.zoom.value) return view.zoom.value;
  let min = Infinity;
  let max = -Infinity;
  for (const curve of curves) {
    if (curve.points.length === 0) continue;
    // Of all points: on the axis of time an attempt that repeats steps is not in order.
    const ends = view.x_axis.value === "time" ? curve.points : [curve.points[0], curve.points.at(-1)!];
    for (const point of ends) {
      const x = x_of(curve, point, view.x_axis.value);
      if (view.log_x.value && x <= 0) continue;
      min = Math.min(min, x);
      max = Math.max(max, x);
    }
  }
  if (min > max) return { min: view.log_x.value ? 1 : 0, max: 10 };
  return min < max ? { min, max } : { min: view.log_x.value ? min / 2 : min - 1, max: min + 1 };
}

/** The finite values between `x.min` and `x.max`, least and greatest ones of summarised points among them. */
export function y_extent(curves: Curve[], view: View, x: Range): Range {
  const log = view.log_y.value;
  let min = Infinity;
  let max = -Infinity;
  for (const curve of curves) {
    for (const point of curve.points) {
      const at = x_of(curve, point, view.x_axis.value);
      if (at < x.min || at > x.max) continue;
      for (const value of [point.value, point.min, point.max]) {
        if (value === undefined || !Number.isFinite(value) || (log && value <= 0)) continue;
        min = Math.min(min, value);
        max = Math.max(max, value);
      }
    }
  }
  if (min > max) return { min: log ? 0.1 : 0, max: 1 };
  if (log) return { min: min / 1.2, max: max * 1.2 };
  const space = margin * (max - min || Math.abs(max) || 1);
  return { min: min - space, max: max + space };
}
