// Numbers and times for people. Pure functions.

export function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const size = Math.abs(value);
  const is_far = size !== 0 && (size < 1e-3 || size >= 1e5);
  const is_short = +value.toPrecision(3) === value; // 0.01 was said so, 0.1280 was measured
  return (is_far ? value.toExponential(is_short ? undefined : 3) : is_short ? String(value) : value.toPrecision(4)).replace("e+", "e");
}

/** The value of a metric: JSON has null for NaN and the infinities, and a word beside it. */
export function metric_value(value: number | null | undefined, nonfinite?: string): number {
  if (value !== null && value !== undefined) return value;
  return nonfinite === "inf" ? Infinity : nonfinite === "-inf" ? -Infinity : NaN;
}

/** What a parameter or a member of a spec is: numbers as people write them, all else as JSON. */
export function any_value(value: unknown): string {
  if (value === undefined) return "–";
  if (typeof value === "number") return String(+value.toPrecision(6)).replace("e+", "e");
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !isFinite(seconds)) return "–";
  if (seconds > 0.05 && seconds < 0.95) return `${seconds.toFixed(1)} s`;
  const s = Math.max(0, Math.round(seconds));
  const with_rest = (whole: string, rest: number, unit: string) => (rest === 0 ? whole : `${whole} ${rest} ${unit}`);
  if (s < 60) return `${s} s`;
  if (s < 3600) return with_rest(`${Math.floor(s / 60)} min`, s % 60, "s");
  if (s < 86400) return with_rest(`${Math.floor(s / 3600)} h`, Math.floor((s % 3600) / 60), "min");
  return with_rest(`${Math.floor(s / 86400)} d`, Math.floor((s % 86400) / 3600), "h");
}

/** A message of the service as a sentence of its own: a capital, a full stop, times in the reader's time zone. */
export function sentence(message: string | null | undefined): string {
  if (!message) return "";
  const local = message.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (at) => time(at));
  return local[0].toUpperCase() + local.slice(1) + (/[.!?]$/.test(local) ? "" : ".");
}

const positions_max = 1000; // the API counts no further: 1001 means "more"

export function queue_place(position: number): string {
  return position > positions_max ? `Behind ${positions_max.toLocaleString("en")} or more jobs in the queue.` : `Place ${position} in the queue.`;
}

export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) {
    count /= 1024;
    unit++;
  }
  return `${unit === 0 ? count : count.toFixed(1)} ${units[unit]}`;
}

const two = (value: number) => String(value).padStart(2, "0");

/** "2026-11-26 16:20:05", in the reader's time zone: it sorts and has one width. */
export function time(text: string | null | undefined): string {
  if (!text) return "–";
  const at = new Date(text);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(text)}`;
}

export function clock(text: string): string {
  const at = new Date(text);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export const final_states = ["succeeded", "failed", "cancelled", "stopped", "timed_out", "expired"];

/** Where a job failed, as far as it is known: "step 118, phase execute, operation matmul …"; empty: it is not. */
export function failure_place(result: Record<string, any> | null | undefined): string {
  const failure = result?.failure ?? {};
  return ["step", "epoch", "batch", "phase", "program", "operation", "replica"]
    .filter((part) => failure[part] !== null && failure[part] !== undefined)
    .map((part) => `${part} ${failure[part]}`)
    .join(", ");
}
