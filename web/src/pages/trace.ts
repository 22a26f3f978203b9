// What a job's trace file says, and how it is painted: a row for each thread, a bar for each span. Colours go to the names that take the most time.
import { colour_of, ink } from "../charts/palette";
import type { Range } from "../charts/view";

interface TraceEvent {
  ph: string;
  tid?: number;
  name: string;
  ts?: number; // microseconds since the job began
  dur?: number;
  args?: { name?: string; number?: number };
}

export interface Span {
  row: number; // in `threads`
  name: string;
  begin_s: number;
  end_s: number;
  step?: number;
}

export interface Total {
  name: string;
  count: number;
  all_s: number;
  longest_s: number;
}

export interface Trace {
  threads: string[];
  spans: Span[];
  totals: Total[]; // what takes most first
  end_s: number;
}

const whole = "step"; // of a worker: what lies behind its kernels
const coloured_max = 12;
export const row_px = 22;
export const label_px = 74;
const axis_px = 20;

function totals_of(spans: Span[]): Total[] {
  const totals = new Map<string, Total>();
  for (const { name, begin_s, end_s } of spans) {
    const total = totals.get(name) ?? { name, count: 0, all_s: 0, longest_s: 0 };
    total.count++;
    total.all_s += end_s - begin_s;
    total.longest_s = Math.max(total.longest_s, end_s - begin_s);
    totals.set(name, total);
  }
  return [...totals.values()].sort((a, b) => b.all_s - a.all_s);
}

export function trace_of({ traceEvents: events }: { traceEvents: TraceEvent[] }): Trace {
  const named = events.filter(({ ph, name }) => ph === "M" && name === "thread_name").sort((a, b) => a.tid! - b.tid!);
  const rows = new Map(named.map(({ tid }, row) => [tid, row]));
  const spans = events.filter(({ ph }) => ph === "X").map(({ tid, name, ts, dur, args }): Span =>
    ({ row: rows.get(tid)!, name, begin_s: ts! / 1e6, end_s: (ts! + dur!) / 1e6, step: args?.number }));
  const end_s = spans.reduce((last, span) => Math.max(last, span.end_s), 0);
  return { threads: named.map(({ args }) => args?.name ?? ""), spans, totals: totals_of(spans), end_s };
}

export function colour_of_name({ totals }: Trace, name: string): string {
  const place = totals.filter((total) => total.name !== whole).findIndex((total) => total.name === name);
  return name === whole || place < 0 ? ink().grid : place < coloured_max ? colour_of(place) : ink().text;
}

export const height_of = ({ threads }: Trace) => threads.length * row_px + axis_px;

/** Seconds as short as the width that they label asks for. */
export function seconds(value_s: number, width_s: number): string {
  return width_s < 0.1 ? `${(value_s * 1000).toFixed(width_s < 0.01 ? 2 : 0)} ms` : `${value_s.toFixed(width_s < 10 ? 2 : 0)} s`;
}

/** `marked`: the span that keys went to. */
export function paint_trace(canvas: CanvasRenderingContext2D, trace: Trace, { min, max }: Range, width: number, marked?: Span) {
  const x_of = (at_s: number) => label_px + ((width - label_px) * (at_s - min)) / (max - min);
  const colours = new Map(trace.totals.map(({ name }) => [name, colour_of_name(trace, name)]));
  const bar = ({ row, name, begin_s, end_s }: Span) => {
    const from = Math.max(label_px, x_of(begin_s));
    canvas.fillStyle = colours.get(name)!;
    canvas.fillRect(from, row * row_px + 2, Math.max(1, Math.min(width, x_of(end_s)) - from), row_px - 4);
  };
  const seen = trace.spans.filter(({ begin_s, end_s }) => end_s >= min && begin_s <= max);
  for (const span of seen) if (span.name === whole) bar(span);
  for (const span of seen) if (span.name !== whole) bar(span);
  canvas.fillStyle = canvas.strokeStyle = ink().text;
  if (marked && seen.includes(marked)) {
    const from = Math.max(label_px, x_of(marked.begin_s));
    canvas.lineWidth = 2;
    canvas.strokeRect(from - 1, marked.row * row_px + 1, Math.max(3, Math.min(width, x_of(marked.end_s)) - from + 2), row_px - 2);
  }
  canvas.font = "12px system-ui, sans-serif";
  trace.threads.forEach((thread, row) => canvas.fillText(thread, 0, row * row_px + 15));
  const base = trace.threads.length * row_px + 14;
  canvas.fillText(seconds(min, max - min), label_px, base);
  canvas.textAlign = "right";
  canvas.fillText(seconds(max, max - min), width, base);
  canvas.textAlign = "left";
}

/** The span at a place of the picture; kernels come before the step that they are a part of. */
export function span_at({ spans }: Trace, { min, max }: Range, width: number, x: number, y: number): Span | undefined {
  const at_s = min + ((x - label_px) / (width - label_px)) * (max - min);
  const slack_s = (max - min) / (width - label_px); // a bar is a pixel wide at least
  const there = spans.filter(({ row, begin_s, end_s }) => row === Math.floor(y / row_px) && begin_s <= at_s && at_s <= Math.max(end_s, begin_s + slack_s));
  return there.find(({ name }) => name !== whole) ?? there[0];
}

const in_order = (a: Span, b: Span) => a.begin_s - b.begin_s || b.end_s - a.end_s;

/** The span of `row` that begins nearest to `at_s`. */
function nearest_span({ spans }: Trace, row: number, at_s: number): Span | undefined {
  let best: Span | undefined;
  for (const span of spans) if (span.row === row && (!best || Math.abs(span.begin_s - at_s) < Math.abs(best.begin_s - at_s))) best = span;
  return best;
}

/** Where keys go from `from`: to the span before or after it on its thread, or to the nearest of another thread that has any. */
export function span_by_key(trace: Trace, from: Span | undefined, key: string, at_s: number): Span | undefined {
  const step = key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1;
  if (!from) return trace.threads.map((_, row) => nearest_span(trace, row, at_s)).find(Boolean);
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const row = trace.spans.filter((span) => span.row === from.row).sort(in_order);
    return row[row.indexOf(from) + step];
  }
  for (let row = from.row + step; row >= 0 && row < trace.threads.length; row += step) {
    const found = nearest_span(trace, row, from.begin_s);
    if (found) return found;
  }
  return undefined;
}
