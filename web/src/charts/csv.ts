// The points of a chart as CSV, one a row: curve, step, epoch, time, value, and of summarised points the least and the most.
import type { Curve } from "./curve";

const quoted = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const word = (value: number | undefined) => (value === undefined ? "" : Number.isNaN(value) ? "nan" : value === Infinity ? "inf" : value === -Infinity ? "-inf" : String(value));

export function curves_csv(curves: Curve[]): string {
  const rows = curves.flatMap(({ name, points }) => points.map((point) =>
    [quoted(name), point.step, point.epoch, new Date(point.time_ms).toISOString(), word(point.value), word(point.min), word(point.max)].join(",")));
  return ["curve,step,epoch,time,value,min,max", ...rows].join("\n") + "\n";
}
