// A chart: the plot, its legend, its keys and its downloads. Several charts of a page share a view: they zoom and hover together.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type uPlot from "uplot";
import { html } from "../html";
import { number } from "../format";
import type { Curve } from "./curve";
import { x_extent } from "./extent";
import { ChartFiles } from "./chart_files";
import { Legend } from "./legend";
import { height_px, make_plot, refit, type PlotInputs } from "./plot";
import { reading } from "./reading";
import { scheme_revision } from "./scheme";
import { keep_view, type Range, type View } from "./view";

interface ChartProps {
  title: string;
  y_title: string;
  curves: Curve[];
  view: View;
  revision: number; // grows whenever the points of the curves have changed
}

const key_zoom = 0.5;
const key_move = 0.05;

/** What the keys do: arrows move the cursor and `say` where it is, + and − zoom around it, 0 shows all. */
function on_key(event: KeyboardEvent, curves: Curve[], view: View, zoom_to: (range: Range | undefined) => void, say: (x: number) => void) {
  const { min, max } = x_extent(curves, view);
  const at = view.hover.value ?? (min + max) / 2;
  const width = max - min;
  const around = (factor: number) => zoom_to({ min: at - (at - min) * factor, max: at + (max - at) * factor });
  const go_to = (x: number) => {
    view.hover.value = x;
    say(x);
  };
  const moves: Record<string, () => void> = {
    ArrowLeft: () => go_to(Math.max(min, at - key_move * width)),
    ArrowRight: () => go_to(Math.min(max, at + key_move * width)),
    "+": () => around(key_zoom),
    "=": () => around(key_zoom),
    "-": () => around(1 / key_zoom),
    "0": () => zoom_to(undefined),
  };
  if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  moves[event.key]();
}

/** uPlot in `holder`: made again when what it cannot change has changed, refitted when points come. */
function use_plot(inputs: Omit<PlotInputs, "element">, remade_by: unknown[], refitted_by: unknown[]) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const current = useRef(inputs);
  current.current = inputs;
  const live = (): PlotInputs => ({ ...current.current, element: holder.current! });
  const fresh = useRef(false);
  useLayoutEffect(() => {
    const element = holder.current!;
    const made = make_plot({ ...live(), curves: () => current.current.curves(), zoomed: (range) => current.current.zoomed(range), hovered: (x) => current.current.hovered(x) });
    plot.current = made;
    fresh.current = true;
    const observer = new ResizeObserver(() => {
      const width = element.clientWidth; // it is also told of what it had at first
      if (width > 0 && width !== made.width) made.setSize({ width, height: height_px });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, remade_by);
  useLayoutEffect(() => {
    if (plot.current && !fresh.current) refit(plot.current, live());
    fresh.current = false;
  }, refitted_by);
  return { holder, plot, live };
}

export function Chart({ title, y_title, curves, view, revision }: ChartProps) {
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const entries = curves.map((curve, index) => ({ curve, index, hidden: hidden.value.has(curve.name) }));
  const shown = entries.filter((one) => !one.hidden);
  const said = useSignal(""); // to those who do not see the cursor that keys move
  const under_pointer = useRef(false);
  const zoom_to = (range: Range | undefined) => {
    view.zoom.value = range;
    keep_view(view);
  };
  const inputs = {
    y_title,
    view,
    curves: () => shown,
    zoomed: zoom_to,
    hovered: (x: number | undefined) => {
      if (under_pointer.current) view.hover.value = x;
    },
  };
  const { holder, plot, live } = use_plot(
    inputs,
    [view.log_x.value, view.log_y.value, view.x_axis.value, y_title, scheme_revision.value],
    [revision, view.zoom.value, view.smoothing.value, hidden.value, curves.length],
  );
  const at = view.hover.value;
  useEffect(() => {
    if (under_pointer.current || !plot.current) return;
    plot.current.setCursor({ left: at === undefined ? -10 : plot.current.valToPos(at, "x"), top: 0 }, false);
  }, [at]);

  const toggle = (name: string) => {
    const next = new Set(hidden.value);
    if (!next.delete(name)) next.add(name);
    hidden.value = next;
  };
  const last = curves.map((curve) => `${curve.name} ${number(curve.points.at(-1)?.value)}`).join(", ");
  const leave = () => {
    under_pointer.current = false;
    view.hover.value = undefined;
  };
  const blur = () => {
    view.hover.value = undefined;
    said.value = "";
  };
  const say = (x: number) => (said.value = reading(shown.map(({ curve }) => curve), x, view.x_axis.value));
  return html`<figure class="chart">
    <figcaption>${title} <${ChartFiles} title=${title} plot=${plot} inputs=${live} curves=${curves} /></figcaption>
    <div ref=${holder} class="plot" tabindex="0" role="group" aria-label=${`${title} over ${view.x_axis.value}; last: ${last}`}
      onKeyDown=${(event: KeyboardEvent) => on_key(event, curves, view, zoom_to, say)} onDblClick=${() => zoom_to(undefined)}
      onPointerEnter=${() => (under_pointer.current = true)} onPointerLeave=${leave} onBlur=${blur}></div>
    <span class="unseen" role="status">${said.value}</span>
    <${Legend} entries=${entries} view=${view} toggle=${toggle} />
  </figure>`;
}
