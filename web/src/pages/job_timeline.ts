// When a job traced, compiled, waited for data, executed, evaluated and saved: its trace, read when somebody asks for it, since it may have a megabyte.
import { useEffect, useRef, useState } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get } from "../api/client";
import type { Job } from "../api/schema";
import { scheme_revision } from "../charts/scheme";
import type { Range } from "../charts/view";
import { html } from "../html";
import { ErrorNote } from "../parts/error_note";
import { Table, type Column } from "../parts/table";
import { colour_of_name, height_of, label_px, paint_trace, seconds, span_at, span_by_key, trace_of, type Span, type Total, type Trace } from "./trace";

const key_zoom = 0.5;
const arrows = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
const drag_min_px = 4;
const totals_max = 15;

function words_of(span: Span, threads: string[]): string {
  const long_s = span.end_s - span.begin_s;
  return `${threads[span.row]}: ${span.name}, ${seconds(long_s, long_s)} from ${seconds(span.begin_s, 1)}${span.step === undefined ? "" : `, number ${span.step}`}`;
}

function columns_of(trace: Trace): Column<Total>[] {
  return [
    { name: "what", wide: true, cell: ({ name }) => html`<svg class="key" width="12" height="12" aria-hidden="true"><rect width="12" height="12" fill=${colour_of_name(trace, name)} /></svg> ${name}` },
    { name: "times", cell: ({ count }) => count.toLocaleString("en") },
    { name: "in all", cell: ({ all_s }) => seconds(all_s, all_s) },
    { name: "longest", cell: ({ longest_s }) => seconds(longest_s, longest_s) },
  ];
}

function Picture({ trace }: { trace: Trace }) {
  const holder = useRef<HTMLCanvasElement>(null);
  const all: Range = { min: 0, max: trace.end_s };
  const range = useSignal<Range>(all);
  const width = useSignal(0);
  const pointed = useSignal<Span | undefined>(undefined);
  const drag = useRef<number>();
  const marked = useSignal<Span | undefined>(undefined); // by keys
  useEffect(() => {
    range.value = all;
    marked.value = undefined;
  }, [trace]);
  useEffect(() => {
    const parent = holder.current!.parentElement!;
    const observer = new ResizeObserver(() => (width.value = parent.clientWidth));
    observer.observe(parent);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = holder.current!;
    [element.width, element.height] = [width.value * devicePixelRatio, height_of(trace) * devicePixelRatio];
    element.style.height = `${height_of(trace)}px`;
    const canvas = element.getContext("2d")!;
    canvas.scale(devicePixelRatio, devicePixelRatio);
    paint_trace(canvas, trace, range.value, width.value, marked.value);
  }, [trace, range.value, width.value, scheme_revision.value, marked.value]);

  const show = (min: number, max: number) => {
    const length = Math.min(max - min, all.max);
    const begin = Math.max(0, Math.min(min, all.max - length));
    range.value = { min: begin, max: begin + length };
  };
  const second_at = (x: number) => range.value.min + (Math.max(0, x - label_px) / (width.value - label_px)) * (range.value.max - range.value.min);
  const go_to = (key: string) => {
    const { min, max } = range.value;
    const span = span_by_key(trace, marked.value, key, min);
    if (!span) return;
    marked.value = span;
    if (span.end_s < min || span.begin_s > max) show(span.begin_s - (max - min) / 2, span.begin_s + (max - min) / 2);
  };
  const on_key = (event: KeyboardEvent) => {
    const { min, max } = range.value;
    const half = (max - min) / 2;
    const middle = marked.value ? (Math.max(min, marked.value.begin_s) + Math.min(max, marked.value.end_s)) / 2 : min + half;
    const moves: Record<string, () => void> = {
      ...Object.fromEntries(arrows.map((key) => [key, () => go_to(key)])),
      "+": () => show(middle - half * key_zoom, middle + half * key_zoom),
      "-": () => show(middle - half / key_zoom, middle + half / key_zoom),
      "0": () => show(0, all.max),
    };
    if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[event.key]();
  };
  const end_drag = (event: PointerEvent) => {
    const from = drag.current;
    drag.current = undefined;
    if (from === undefined || Math.abs(event.offsetX - from) < drag_min_px) return;
    show(second_at(Math.min(from, event.offsetX)), second_at(Math.max(from, event.offsetX)));
  };
  const spoken = pointed.value ?? marked.value;
  return html`<div class="trace"><canvas ref=${holder} tabindex="0" role="img" aria-label=${`${trace.threads.length} threads over ${seconds(trace.end_s, 1)}; the table has what took the most time`}
      onKeyDown=${on_key} onBlur=${() => (marked.value = undefined)} onDblClick=${() => show(0, all.max)} onPointerDown=${(event: PointerEvent) => (drag.current = event.offsetX)} onPointerUp=${end_drag}
      onPointerMove=${(event: PointerEvent) => (pointed.value = span_at(trace, range.value, width.value, event.offsetX, event.offsetY))}
      onPointerLeave=${() => (pointed.value = undefined)}></canvas></div>
    <p class="hint" role="status">${spoken ? words_of(spoken, trace.threads) : "Drag over a part to see it larger; a double click or the key 0 shows all. Arrows go from span to span, + and − zoom."}</p>`;
}

export function JobTimeline({ job }: { job: Job }) {
  const [trace, set_trace] = useState<Trace>();
  const [error, set_error] = useState<unknown>();
  const read = () => get<Parameters<typeof trace_of>[0]>(`/v1/jobs/${job.id}/trace`).then((file) => (set_trace(trace_of(file)), set_error(undefined)), set_error);
  return html`<div class="title"><h3>Timeline</h3><button onClick=${read}>${trace ? "Read again" : "Show the timeline"}</button></div>
    <${ErrorNote} error=${error} />
    ${trace && html`<${Picture} trace=${trace} />
      <${Table} label="what took the time" columns=${columns_of(trace)} rows=${trace.totals.slice(0, totals_max)} key_of=${({ name }: Total) => name} />
      ${trace.totals.length > totals_max && html`<p class="hint">The ${totals_max} of ${trace.totals.length} names that took the most time.</p>`}`}`;
}
