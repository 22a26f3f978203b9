// What curves are at a place of their axis, in words.
import { clock, number } from "../format";
import { type Curve, type Point, type XAxis, nearest, x_of } from "./curve";

const said_max = 8; // curves that are read out; of 100 nobody would hear the end

export function value_words(point: Point | undefined): string {
  if (!point) return "–";
  const spread = point.min !== undefined && point.max !== undefined && point.min !== point.max ? ` (${number(point.min)} to ${number(point.max)})` : "";
  return `${number(point.value)}${spread}`;
}

export const place_words = (curve: Curve, point: Point, axis: XAxis): string =>
  axis === "time" ? clock(new Date(point.time_ms).toISOString()) : `${axis} ${number(+x_of(curve, point, axis).toFixed(2))}`;

/** "step 118: train_loss 0.1234, val_loss 0.2"; where curves have points at different places, the place of each. */
export function reading(curves: Curve[], x: number, axis: XAxis): string {
  const found = curves.flatMap((curve) => {
    const point = nearest(curve, x, axis);
    return point ? [{ name: curve.name, value: number(point.value), place: place_words(curve, point, axis) }] : [];
  });
  if (found.length === 0) return "no value";
  const shown = found.slice(0, said_max);
  const together = shown.every(({ place }) => place === shown[0].place);
  const values = shown.map(({ name, value, place }) => (together ? `${name} ${value}` : `${name} ${value} at ${place}`)).join(", ");
  const rest = found.length > said_max ? `, and ${found.length - said_max} more curves` : "";
  return `${together ? `${shown[0].place}: ` : ""}${values}${rest}`;
}
