// Parallel coordinates: an axis for each parameter, a line for each trial, its colour by the objective. Dragging along an axis keeps the lines
// that pass there, and so do the keys of its handles; the lines are painted on a canvas, because thousands of elements would not follow the hand.
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { SweepTrial } from "../api/schema";
import { ink, scheme } from "../charts/palette";
import { scheme_revision } from "../charts/scheme";
import { number } from "../format";
import { html } from "../html";
import type { Axis } from "./axis";
import { AxisHandles } from "./axis_handles";
import { type Brush, type Brushes, height_px, margin, place_at, x_of, y_of } from "./parallel_layout";
import { shade } from "./shade";

const grip_px = 30; // how far from an axis a drag is one along it
const axis_px_min = 70; // closer axes could not be told apart: the picture scrolls sideways
const label_gap_px = 8;
const tell_pause_ms = 150; // the table follows when a key is let go

/** A trial with what does not change while it is brushed. */
interface Line {
  trial: SweepTrial;
  places: (number | undefined)[]; // on each axis
  colour: string;
}

const shades = 64; // so many colours are not told apart; lines of one are painted together

const shade_of = (place: number | undefined) => shade(place === undefined ? undefined : Math.round(place * (shades - 1)) / (shades - 1), scheme.matches);

const lines_of = (trials: SweepTrial[], axes: Axis[]): Line[] => {
  const lines = trials.map((trial) => {
    const places = axes.map((axis) => axis.place(trial));
    return { trial, places, colour: shade_of(places.at(-1)) };
  });
  return lines.sort((a, b) => (b.places.at(-1) ?? 2) - (a.places.at(-1) ?? 2));
};

function is_kept({ places }: Line, axes: Axis[], brushes: Brushes): boolean {
  return axes.every((axis, index) => {
    const brush = brushes.get(axis.name);
    const place = places[index];
    return !brush || (place !== undefined && place >= brush[0] && place <= brush[1]);
  });
}

/** `text` around `x`, as much of it as there is room for between the neighbours, inside the picture. */
function paint_label(canvas: CanvasRenderingContext2D, text: string, x: number, y: number, room: number, width: number) {
  let shown = text;
  while (shown.length > 1 && canvas.measureText(shown).width > room) shown = `${shown.replace(/…$/, "").slice(0, -1)}…`;
  const half = canvas.measureText(shown).width / 2;
  canvas.fillText(shown, Math.max(half + 4, Math.min(width - half - 4, x)), y);
}

function paint_axes(canvas: CanvasRenderingContext2D, axes: Axis[], brushes: Brushes, width: number) {
  const { text } = ink();
  const room = (width - margin.left - margin.right) / Math.max(1, axes.length - 1) - label_gap_px;
  canvas.font = "12px system-ui, sans-serif";
  axes.forEach((axis, index) => {
    const x = x_of(index, axes.length, width);
    canvas.globalAlpha = 1;
    canvas.strokeStyle = canvas.fillStyle = text;
    canvas.lineWidth = 1;
    canvas.textAlign = "center";
    const is_objective = index === axes.length - 1;
    paint_label(canvas, is_objective ? axis.name : axis.name.split(".").at(-1)!, x, 12, room, width);
    paint_label(canvas, axis.ends[1], x, margin.top - 6, room, width);
    paint_label(canvas, axis.ends[0], x, height_px - margin.bottom + 16, room, width);
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

function trace(canvas: CanvasRenderingContext2D, { places }: Line, xs: number[]) {
  let open = false;
  for (let index = 0; index < places.length; index++) {
    const place = places[index];
    if (place === undefined) open = false;
    else {
      if (open) canvas.lineTo(xs[index], y_of(place));
      else canvas.moveTo(xs[index], y_of(place));
      open = true;
    }
  }
}

const together = 100; // lines of a path: longer ones take longer to paint than several

/** Strokes `lines`, neighbours of one colour as one path. */
function stroke(canvas: CanvasRenderingContext2D, lines: Line[], xs: number[], colour_of: (line: Line) => string) {
  for (let first = 0; first < lines.length; ) {
    const colour = colour_of(lines[first]);
    canvas.strokeStyle = colour;
    canvas.beginPath();
    const end = first + together;
    do trace(canvas, lines[first++], xs);
    while (first < lines.length && first < end && colour_of(lines[first]) === colour);
    canvas.stroke();
  }
}

const xs_of = (axes: Axis[], width: number) => axes.map((_, index) => x_of(index, axes.length, width));

/** A canvas for `element`, or one that is not shown, measured in pixels of the page. */
function sized(element: HTMLCanvasElement, width: number): CanvasRenderingContext2D {
  [element.width, element.height] = [width * devicePixelRatio, height_px * devicePixelRatio];
  const canvas = element.getContext("2d")!;
  canvas.scale(devicePixelRatio, devicePixelRatio);
  return canvas;
}

/** All lines, faint: what the chosen ones are painted over. It stays the same while the hand moves. */
function paint_behind(lines: Line[], axes: Axis[], width: number): HTMLCanvasElement {
  const element = document.createElement("canvas");
  const canvas = sized(element, width);
  canvas.lineWidth = 1 / devicePixelRatio;
  canvas.globalAlpha = 0.25;
  const { grid } = ink();
  stroke(canvas, lines, xs_of(axes, width), () => grid);
  return element;
}

const many = 300; // lines from here on are thin: as thin as a pixel they are painted several times as fast

function paint_chosen(canvas: CanvasRenderingContext2D, chosen: Line[], axes: Axis[], width: number) {
  canvas.lineWidth = chosen.length > many ? 1 / devicePixelRatio : 1.5;
  canvas.globalAlpha = chosen.length > many ? 0.5 : 0.8;
  stroke(canvas, chosen, xs_of(axes, width), ({ colour }) => colour);
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
  const kept = useSignal<number | undefined>(undefined); // how many trials the brushes keep
  const drag = useRef<{ axis: Axis; from: number }>();
  const soon = useRef(0);
  const lines = useMemo(() => lines_of(trials, axes), [trials, axes, scheme_revision.value]);

  useEffect(() => {
    const parent = holder.current!.parentElement!.parentElement!;
    const width_min = margin.left + margin.right + axis_px_min * (axes.length - 1);
    const observer = new ResizeObserver(() => (width.value = Math.max(parent.clientWidth, width_min)));
    observer.observe(parent);
    return () => observer.disconnect();
  }, [axes.length]);
  useEffect(() => () => clearTimeout(soon.current), []);
  const behind = useRef<{ of: Line[]; picture: HTMLCanvasElement }>();
  useLayoutEffect(() => {
    if (width.value === 0) return;
    const canvas = sized(holder.current!, width.value);
    const brushed = brushes.value.size > 0;
    const picture = behind.current?.picture;
    if (brushed && (behind.current?.of !== lines || picture?.width !== canvas.canvas.width)) behind.current = { of: lines, picture: paint_behind(lines, axes, width.value) };
    if (brushed) canvas.drawImage(behind.current!.picture, 0, 0, width.value, height_px);
    paint_chosen(canvas, brushed ? lines.filter((line) => is_kept(line, axes, brushes.value)) : lines, axes, width.value);
    paint_axes(canvas, axes, brushes.value, width.value);
  }, [lines, brushes.value, width.value]);

  const tell = () => {
    const next = brushes.value;
    const left = next.size === 0 ? undefined : lines.filter((line) => is_kept(line, axes, next)).map(({ trial }) => trial);
    kept.value = left?.length;
    chosen(left);
  };
  const brush = (axis: Axis, range: Brush | undefined) => {
    const next = new Map(brushes.value);
    if (range) next.set(axis.name, range);
    else next.delete(axis.name);
    brushes.value = next;
  };
  const brush_by_key = (axis: Axis, range: Brush | undefined) => {
    brush(axis, range);
    clearTimeout(soon.current);
    soon.current = window.setTimeout(tell, tell_pause_ms);
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
    brush(axis, [Math.min(from, to), Math.max(from, to)]);
  };
  const end = () => {
    if (drag.current) tell(); // once: the table follows more slowly than the lines
    drag.current = undefined;
  };
  const keep_all = () => {
    brushes.value = new Map();
    tell();
  };
  return html`<div class="parallel"><div class="axes"><canvas ref=${holder} role="img" aria-label=${`${trials.length} trials over ${axes.map((axis) => axis.name).join(", ")}; the table has the values`}
      onPointerDown=${begin} onPointerMove=${move} onPointerUp=${end}></canvas>
      <${AxisHandles} axes=${axes} brushes=${brushes.value} width=${width.value} brush=${brush_by_key} /></div></div>
    <p class="hint">Drag along an axis to keep the trials that pass there; with the keyboard, Tab goes to the ends of each axis, arrows move them.${" "}
      <span role="status">${kept.value !== undefined && `${number(kept.value)} of ${number(trials.length)} trials are kept.`}</span>
      ${brushes.value.size > 0 && html` <button onClick=${keep_all}>Keep all</button>`}</p>`;
}
