// Parallel coordinates: an axis for each parameter, a line for each trial, its colour by the objective. Dragging along an axis keeps the lines
// that pass there; they are painted on a canvas, because thousands of elements would not follow the hand.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { SweepTrial } from "../api/schema";
import { ink, scheme } from "../charts/palette";
import { scheme_revision } from "../charts/scheme";
import { html } from "../html";
import type { Axis } from "./axis";
import { shade } from "./shade";

const height_px = 280;
const margin = { left: 50, right: 50, top: 34, bottom: 26 };
const grip_px = 30; // how far from an axis a drag is one along it

type Brushes = ReadonlyMap<string, [number, number]>;

const x_of = (index: number, count: number, width: number) => margin.left + (count === 1 ? 0 : (index * (width - margin.left - margin.right)) / (count - 1));
const y_of = (place: number) => height_px - margin.bottom - place * (height_px - margin.top - margin.bottom);
const place_at = (y: number) => Math.min(1, Math.max(0, (height_px - margin.bottom - y) / (height_px - margin.top - margin.bottom)));

/** A trial with what does not change while it is brushed. */
interface Line {
  trial: SweepTrial;
  places: (number | undefined)[]; // on each axis
  colour: string;
}

const lines_of = (trials: SweepTrial[], axes: Axis[]): Line[] => trials.map((trial) => {
  const places = axes.map((axis) => axis.place(trial));
  return { trial, places, colour: shade(places.at(-1), scheme.matches) };
});

function is_kept({ places }: Line, axes: Axis[], brushes: Brushes): boolean {
  return axes.every((axis, index) => {
    const brush = brushes.get(axis.name);
    const place = places[index];
    return !brush || (place !== undefined && place >= brush[0] && place <= brush[1]);
  });
}

function paint_axes(canvas: CanvasRenderingContext2D, axes: Axis[], brushes: Brushes, width: number) {
  const { text } = ink();
  canvas.font = "12px system-ui, sans-serif";
  axes.forEach((axis, index) => {
    const x = x_of(index, axes.length, width);
    canvas.globalAlpha = 1;
    canvas.strokeStyle = canvas.fillStyle = text;
    canvas.lineWidth = 1;
    canvas.textAlign = index === 0 ? "left" : index === axes.length - 1 ? "right" : "center";
    const at = index === 0 ? 4 : index === axes.length - 1 ? width - 4 : x;
    const is_objective = index === axes.length - 1;
    canvas.fillText(is_objective ? axis.name : axis.name.split(".").at(-1)!, at, 12);
    canvas.fillText(axis.ends[1], at, margin.top - 6);
    canvas.fillText(axis.ends[0], at, height_px - margin.bottom + 16);
    canvas.beginPath();
    canvas.moveTo(x, y_of(0));
    canvas.lineTo(x, y_of(1));
    canvas.stroke();
    const brush = brushes.get(axis.name);
    if (!brush) return;
    canvas.globalAlpha = 0.35;
    canvas.fillRect(x - 6, y_of(brush[1]), 12, y_of(brush[0]) - y_of(brush[1]));
  });
}

function paint_line(canvas: CanvasRenderingContext2D, { places }: Line, xs: number[]) {
  canvas.beginPath();
  let open = false;
  places.forEach((place, index) => {
    if (place === undefined) return void (open = false);
    if (open) canvas.lineTo(xs[index], y_of(place));
    else canvas.moveTo(xs[index], y_of(place));
    open = true;
  });
  canvas.stroke();
}

function paint_lines(canvas: CanvasRenderingContext2D, lines: Line[], axes: Axis[], brushes: Brushes, width: number) {
  const xs = axes.map((_, index) => x_of(index, axes.length, width));
  const chosen = lines.filter((line) => is_kept(line, axes, brushes));
  const kept = new Set(chosen);
  canvas.lineWidth = 1;
  canvas.globalAlpha = 0.25;
  canvas.strokeStyle = ink().grid;
  for (const line of lines) if (!kept.has(line)) paint_line(canvas, line, xs);
  canvas.lineWidth = 1.5;
  canvas.globalAlpha = chosen.length > 300 ? 0.35 : 0.8;
  for (const line of chosen) {
    canvas.strokeStyle = line.colour;
    paint_line(canvas, line, xs);
  }
}

interface ParallelProps {
  trials: SweepTrial[];
  axes: Axis[];
  chosen: (trials: SweepTrial[] | undefined) => void; // those that all brushes keep; none: there is no brush
}

export function Parallel({ trials, axes, chosen }: ParallelProps) {
  const holder = useRef<HTMLCanvasElement>(null);
  const brushes = useSignal<Brushes>(new Map());
  const width = useSignal(0);
  const drag = useRef<{ axis: Axis; from: number }>();
  const lines = useMemo(() => lines_of(trials, axes), [trials, axes, scheme_revision.value]);

  useEffect(() => {
    const observer = new ResizeObserver(() => (width.value = holder.current?.parentElement?.clientWidth ?? 0));
    observer.observe(holder.current!.parentElement!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = holder.current!;
    [element.width, element.height] = [width.value * devicePixelRatio, height_px * devicePixelRatio];
    const canvas = element.getContext("2d")!;
    canvas.scale(devicePixelRatio, devicePixelRatio);
    paint_lines(canvas, lines, axes, brushes.value, width.value);
    paint_axes(canvas, axes, brushes.value, width.value);
  }, [lines, brushes.value, width.value]);

  const tell = () => {
    const next = brushes.value;
    chosen(next.size === 0 ? undefined : lines.filter((line) => is_kept(line, axes, next)).map(({ trial }) => trial));
  };
  const begin = (event: PointerEvent) => {
    const index = axes.findIndex((_, i) => Math.abs(event.offsetX - x_of(i, axes.length, width.value)) < grip_px);
    if (index < 0) return;
    holder.current!.setPointerCapture(event.pointerId);
    drag.current = { axis: axes[index], from: place_at(event.offsetY) };
  };
  const move = (event: PointerEvent) => {
    if (!drag.current) return;
    const { axis, from } = drag.current;
    const to = place_at(event.offsetY);
    brushes.value = new Map([...brushes.value, [axis.name, [Math.min(from, to), Math.max(from, to)]]]);
  };
  const end = () => {
    if (drag.current) tell(); // once: the table follows more slowly than the lines
    drag.current = undefined;
  };
  const keep_all = () => {
    brushes.value = new Map();
    tell();
  };
  return html`<div class="parallel"><canvas ref=${holder} role="img" aria-label=${`${trials.length} trials over ${axes.map((axis) => axis.name).join(", ")}; the table has the values`}
      onPointerDown=${begin} onPointerMove=${move} onPointerUp=${end}></canvas></div>
    <p class="hint">Drag along an axis to keep the trials that pass there. ${brushes.value.size > 0 && html`<button onClick=${keep_all}>Keep all</button>`}</p>`;
}
