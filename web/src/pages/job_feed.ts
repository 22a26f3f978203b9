// Everything the job page knows about one job: the object, its curves, its log, and what its events add while it runs.
import { batch, signal } from "@preact/signals";
import { get, type List } from "../api/client";
import { follow, type JobEvent } from "../api/job_stream";
import type { Checkpoint, Job } from "../api/schema";
import type { Connection } from "../api/shared_stream";
import type { Range } from "../charts/view";
import { final_states } from "../format";
import { job_curves } from "./job_curves";
import { job_log } from "./job_log";

const redraw_pause_ms = 100;
const reload_pause_ms = 250;
const reloaded_by = ["state", "checkpoint", "end"];

export function job_feed(id: string) {
  const job = signal<Job | undefined>(undefined);
  const checkpoints = signal<Checkpoint[]>([]);
  const error = signal<unknown>(undefined);
  const connection = signal<Connection>("connecting");
  const log = job_log(id);
  const curves = job_curves(id, job);
  const failed = (problem: unknown) => (error.value = problem);
  const has_ended = () => job.value !== undefined && final_states.includes(job.value.state);

  const reload = async () => {
    try {
      const [now, saved] = await Promise.all([get<Job>(`/v1/jobs/${id}`), get<List<Checkpoint>>(`/v1/jobs/${id}/checkpoints`)]);
      batch(() => {
        job.value = now;
        checkpoints.value = saved.items;
        error.value = undefined;
      });
    } catch (problem) {
      failed(problem);
    }
  };
  const read_history = () => Promise.all([job.value?.kind === "train" ? curves.read() : undefined, log.read()]).catch(failed);

  // Events come by the thousand from a job of short steps: what they change is shown together.
  let progress: Job["progress"] | undefined;
  let too_many_points = false;
  let redraw = 0;
  let reload_soon = 0;
  const show = () => {
    redraw = 0;
    batch(() => {
      if (progress && job.value) job.value = { ...job.value, progress };
      log.show();
      curves.revision.value++;
    });
    progress = undefined;
    if (too_many_points) curves.read().catch(failed);
    too_many_points = false;
  };
  const on_event = (event: JobEvent) => {
    if (event.type === "metric") too_many_points = curves.add(event.body) || too_many_points;
    else if (event.type === "progress") progress = event.body as Job["progress"];
    else log.add(event);
    if (!redraw) redraw = window.setTimeout(show, redraw_pause_ms);
    if (reloaded_by.includes(event.type) && !reload_soon) reload_soon = window.setTimeout(() => ((reload_soon = 0), reload()), reload_pause_ms);
  };

  let stop = () => {};
  let closed = false;
  // What was before the stream began, and after it was refused: then the job may have ended.
  const missed = async () => {
    await Promise.all([reload(), read_history()]);
    if (has_ended()) stop();
  };
  const begin = async () => {
    await reload();
    if (!job.value || closed) return;
    if (has_ended()) return (connection.value = "ended"), read_history();
    stop = follow(id, { event: on_event, missed: () => void missed(), connection: (now) => (connection.value = now) });
  };
  void begin();

  const close = () => {
    closed = true;
    stop();
    curves.close();
    for (const timer of [redraw, reload_soon]) clearTimeout(timer);
  };
  const zoomed = (range: Range | undefined) => curves.zoomed(range, failed);
  return { job, checkpoints, log: log.lines, curves: curves.curves, revision: curves.revision, error, reload, zoomed, connection, close };
}
