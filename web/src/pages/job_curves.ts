// The curves of one job: their history at a bounded resolution, the points that come, and what is zoomed to, finer.
import { signal, type Signal } from "@preact/signals";
import { get, query } from "../api/client";
import type { Job, MetricSeries } from "../api/schema";
import { add_point, place_of, point_of, type Curve, type Point } from "../charts/curve";
import type { Range } from "../charts/view";
import { metric_value } from "../format";

const points_max = 500; // of a curve's history
const detail_points_max = 2000; // of what is zoomed to
const live_points_max = 2000; // since the history was read: then it is read again
const detail_pause_ms = 300;

function curve_of(job: Job, name: string, points: Point[]): Curve {
  const { steps_total, epochs } = job.progress ?? {};
  const steps_per_epoch = steps_total && epochs ? steps_total / epochs : undefined;
  return { name, points, steps_per_epoch, start_ms: Date.parse(job.started_at ?? job.created_at) };
}

/** Puts `points` in the place of those of the same steps. */
function replace(curve: Curve, points: Point[]) {
  if (points.length === 0) return;
  const first = place_of(curve.points, points[0].step);
  const end = place_of(curve.points, points.at(-1)!.step + 1);
  curve.points.splice(first, end - first, ...points);
}

/** `job` is known before anything else is called. */
export function job_curves(id: string, job: Signal<Job | undefined>) {
  const curves = signal<ReadonlyMap<string, Curve>>(new Map());
  const revision = signal(0);
  let detail: Range | undefined;
  let detail_soon = 0;
  let live_points = 0;

  const ask = (values: Record<string, number>) => get<{ series: MetricSeries[] }>(`/v1/jobs/${id}/metrics${query(values)}`);

  const refine = async ({ min, max }: Range) => {
    const { series } = await ask({ step_min: Math.max(0, Math.floor(min)), step_max: Math.max(0, Math.ceil(max)), resolution: detail_points_max });
    for (const { name, points } of series) {
      const curve = curves.value.get(name);
      if (curve) replace(curve, points.map(point_of));
    }
    revision.value++;
  };

  const read = async () => {
    live_points = 0;
    const { series } = await ask({ resolution: points_max });
    const read = new Map(series.map(({ name, points }) => [name, curve_of(job.value!, name, points.map(point_of))]));
    // What came while the answer was under way is newer than it.
    for (const [name, curve] of curves.value) {
      const of_name = read.get(name);
      if (!of_name) read.set(name, curve);
      else of_name.points.push(...curve.points.slice(place_of(curve.points, (of_name.points.at(-1)?.step ?? -1) + 1)));
    }
    curves.value = read;
    revision.value++;
    if (detail) await refine(detail);
  };

  /** What an event says of a step. True: the history is to be read again. */
  const add = ({ step, epoch, time, values, nonfinite }: Record<string, any>): boolean => {
    for (const [name, value] of Object.entries<number | null>(values ?? {})) {
      const point = { step, epoch, time_ms: Date.parse(time), value: metric_value(value, nonfinite?.[name]) };
      const curve = curves.value.get(name);
      if (curve) add_point(curve.points, point);
      else if (job.value) curves.value = new Map([...curves.value, [name, curve_of(job.value, name, [point])]]);
    }
    return ++live_points > live_points_max;
  };

  const zoomed = (range: Range | undefined, failed: (problem: unknown) => void) => {
    detail = range;
    clearTimeout(detail_soon);
    if (range && job.value) detail_soon = window.setTimeout(() => refine(range).catch(failed), detail_pause_ms);
  };
  return { curves, revision, read, add, zoomed, close: () => clearTimeout(detail_soon) };
}
