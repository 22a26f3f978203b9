// Everything the job page knows about one job: the object, and what its events add while it runs.
import { batch, signal } from "@preact/signals";
import { get } from "../api/client";
import type { Checkpoint, Job, List } from "../api/job";
import { metric_value } from "../format";
import { follow } from "../live";
import type { JobEvent } from "../live";
import type { Series } from "../parts/chart";

export interface LogLine {
  sequence: number;
  level: string;
  message: string;
}

const log_lines_max = 2000;
const redraw_pause_ms = 100;
const points_per_pause_ms = 50;
const reload_pause_ms = 250;

export function job_feed(id: string) {
  const job = signal<Job | undefined>(undefined);
  const checkpoints = signal<Checkpoint[]>([]);
  const log = signal<LogLine[]>([]);
  const series = new Map<string, Series>();
  const revision = signal(0);
  const error = signal<unknown>(undefined);
  const first_step = signal<number | undefined>(undefined); // where it began: a retry has the steps of its origin

  const reload = async () => {
    try {
      job.value = await get<Job>(`/v1/jobs/${id}`);
      checkpoints.value = (await get<List<Checkpoint>>(`/v1/jobs/${id}/checkpoints`)).items;
    } catch (problem) {
      error.value = problem;
    }
  };

  // Events come in bursts when a page opens, and by the thousand from a job of short steps: what
  // they change is shown together. A redraw takes some microseconds a point; the pause before the
  // next one grows with them, so that the page keeps listening to its user.
  let points = 0;
  let progress: Job["progress"] | undefined;
  let lines: LogLine[] = [];
  let redraw = 0;
  let reload_soon = 0;
  const show = () => {
    redraw = 0;
    batch(() => {
      // Events come from the first on: until they have caught up, the job as it was read is newer.
      if (progress && job.value && (progress.step ?? 0) >= (job.value.progress?.step ?? 0)) job.value = { ...job.value, progress };
      if (lines.length > 0) log.value = [...log.value, ...lines].slice(-log_lines_max);
      revision.value++;
    });
    progress = undefined;
    lines = [];
  };
  const schedule = (with_reload: boolean) => {
    if (!redraw) redraw = window.setTimeout(show, Math.max(redraw_pause_ms, points / points_per_pause_ms));
    if (with_reload && !reload_soon) reload_soon = window.setTimeout(() => ((reload_soon = 0), reload()), reload_pause_ms);
  };

  const add_log = (sequence: number, level: string, message: string) => {
    lines.push({ sequence, level, message });
  };

  const on_event = ({ sequence, type, body }: JobEvent) => {
    if (type === "metric") {
      for (const [name, value] of Object.entries(body.values ?? {})) {
        if (!series.has(name)) series.set(name, { name, points: new Map() });
        series.get(name)!.points.set(body.step, metric_value(value as number | null, body.nonfinite?.[name]));
        points++;
      }
    } else if (type === "progress") {
      progress = body as Job["progress"];
      first_step.value ??= progress?.step ?? 0;
    } else if (type === "log") {
      add_log(sequence, body.level, body.message);
    } else if (type === "warning") {
      add_log(sequence, "warn", body.message);
    } else if (type === "compile") {
      const cause = body.cause ? `: ${body.cause}` : "";
      add_log(sequence, body.after_warm_up ? "warn" : "info", `compiled ${body.program} in ${Number(body.seconds ?? 0).toFixed(3)} s${cause}`);
    }
    schedule(["state", "checkpoint", "end"].includes(type));
  };

  reload();
  const stream = follow(id, on_event);
  const close = () => {
    stream.close();
    clearTimeout(redraw);
    clearTimeout(reload_soon);
  };
  return { job, checkpoints, log, series, revision, error, first_step, reload, connection: stream.connection, close };
}
