// How the charts of a page are looked at: one view for all of them, kept in the address.
import { signal, type Signal } from "@preact/signals";
import { route, set_query } from "../route";
import type { XAxis } from "./curve";

export interface Range {
  min: number;
  max: number;
}

export interface View {
  x_axis: Signal<XAxis>;
  zoom: Signal<Range | undefined>; // none: all of it, also what is still to come
  smoothing: Signal<number>;
  log_x: Signal<boolean>;
  log_y: Signal<boolean>;
  hover: Signal<number | undefined>;
}

export const x_axes: XAxis[] = ["step", "epoch", "time"];
export const smoothing_max = 0.99;

function range_of(text: string | null): Range | undefined {
  const [min, max] = (text ?? "").split("..").map(Number);
  return Number.isFinite(min) && Number.isFinite(max) && min < max ? { min, max } : undefined;
}

export function make_view(): View {
  const { query } = route.value;
  const smoothing = Number(query.get("smoothing"));
  return {
    x_axis: signal(x_axes.find((axis) => axis === query.get("x")) ?? "step"),
    zoom: signal(range_of(query.get("zoom"))),
    smoothing: signal(smoothing > 0 && smoothing <= smoothing_max ? smoothing : 0),
    log_x: signal(query.get("log")?.includes("x") ?? false),
    log_y: signal(query.get("log")?.includes("y") ?? false),
    hover: signal(undefined),
  };
}

export function keep_view({ x_axis, zoom, smoothing, log_x, log_y }: View) {
  const short = (value: number) => String(+value.toPrecision(6));
  set_query({
    x: x_axis.value === "step" ? null : x_axis.value,
    zoom: zoom.value && `${short(zoom.value.min)}..${short(zoom.value.max)}`,
    smoothing: smoothing.value > 0 ? String(smoothing.value) : null,
    log: `${log_x.value ? "x" : ""}${log_y.value ? "y" : ""}`,
  });
}
