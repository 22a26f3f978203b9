// What the axes of a chart span. Every range can be drawn: both ends are finite, the second is the greater, and on a logarithmic axis both are
// above 0.
import { type Curve, x_of } from "./curve";
import type { Range, View } from "./view";

const margin = 0.05;
const told_apart = 1e-9; // of the greater end: sums of the same values in another order differ by less
const greatest = 1e300; // products with pixels are finite too
const least_log = 1e-300;

/** Widened about its middle where its ends are too near to each other. */
function drawable({ min, max }: Range, log = false): Range {
  const low = Math.max(log ? least_log : -greatest, min);
  const high = Math.min(greatest, max);
  const short = told_apart * Math.max(Math.abs(low), Math.abs(high)) - (high - low);
  return short > 0 ? { min: low - short / 2, max: high + short / 2 } : { min: low, max: high };
}

/** The least and the greatest place of a point, of those that the axis can show; `min` > `max`: there is none. */
function places(curves: Curve[], view: View, is_shown: (x: number) => boolean): Range {
  let min = Infinity;
  let max = -Infinity;
  // Of all points: on the axis of time an attempt that repeats steps is not in order, and a logarithmic axis cannot show what is at 0.
  for (const curve of curves) {
    for (const point of curve.points) {
      const x = x_of(curve, point, view.x_axis.value);
      if (!is_shown(x)) continue;
      min = Math.min(min, x);
      max = Math.max(max, x);
    }
  }
  return { min, max };
}

/** Where somebody has zoomed to; none where nothing of it can be shown. A logarithmic axis begins at the first point of it. */
function zoomed(curves: Curve[], view: View): Range | undefined {
  const zoom = view.zoom.value;
  if (!zoom || !view.log_x.value || zoom.min > 0) return zoom && drawable(zoom, view.log_x.value);
  if (zoom.max <= 0) return undefined;
  const { min } = places(curves, view, (x) => x > 0 && x < zoom.max);
  return drawable({ min: Number.isFinite(min) ? min : zoom.max / 10, max: zoom.max }, true);
}

/** All of the curves, or where somebody has zoomed to. */
export function x_extent(curves: Curve[], view: View): Range {
  const log = view.log_x.value;
  const zoom = zoomed(curves, view);
  if (zoom) return zoom;
  const { min, max } = places(curves, view, (x) => Number.isFinite(x) && (!log || x > 0));
  if (min > max) return { min: log ? 1 : 0, max: 10 };
  return drawable(min < max ? { min, max } : { min: log ? min / 2 : min - 1, max: min + 1 }, log);
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
  if (log) return drawable({ min: min / 1.2, max: max * 1.2 }, true);
  const size = Math.max(Math.abs(min), Math.abs(max));
  const is_one_value = max - min <= told_apart * size;
  const space = margin * (is_one_value ? size || 1 : max - min);
  return drawable({ min: min - space, max: max + space });
}
