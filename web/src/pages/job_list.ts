// A page of jobs that stays what it says while they run, for few bytes: progress comes with the stream, a job that has changed is read alone,
// and the list only when its order or its members may have changed.
import { useLayoutEffect, useState } from "preact/hooks";
import { get, type List } from "../api/client";
import type { Job } from "../api/schema";
import type { ProjectEvent } from "../api/shared_stream";
import { read_live } from "../parts/refreshed";
import { by_metric, is_filtered, list_path, type JobQuery } from "./job_query";

const alone_max = 5; // more jobs than these are read as a list

interface Shown {
  path: string;
  jobs?: Job[];
  next_cursor?: string | null;
  error?: unknown;
}

const kept = new Map<string, Shown>(); // what Back shows at once
const kept_max = 20;

function keep(shown: Shown) {
  kept.delete(shown.path);
  kept.set(shown.path, shown);
  if (kept.size > kept_max) kept.delete(kept.keys().next().value!);
}

function follow_list(asked: JobQuery, set: (change: (before: Shown) => Shown) => void): () => void {
  const path = list_path(asked);
  const changed = new Set<string>();
  let listed = new Set<string>();
  let whole = true;
  let stopped = false;
  const moves = is_filtered(asked) || by_metric(asked) || asked.order_by.includes("finished_at"); // a change may move a job, or take it off the page
  const show = (change: (before: Shown) => Shown) => {
    if (stopped) return;
    set((before) => {
      const next = change(before.path === path ? before : kept.get(path) ?? { path });
      keep(next);
      return next;
    });
  };
  const read_list = async () => {
    const { items, next_cursor } = await get<List<Job>>(path);
    listed = new Set(items.map((job) => job.id));
    show(() => ({ path, jobs: items, next_cursor }));
  };
  const read_alone = async (ids: string[]) => {
    const jobs = await Promise.all(ids.map((id) => get<Job>(`/v1/jobs/${id}`)));
    const read = new Map(jobs.map((job) => [job.id, job]));
    show((before) => ({ ...before, error: undefined, jobs: before.jobs?.map((job) => read.get(job.id) ?? job) }));
  };
  const read = async () => {
    const ids = [...changed];
    const all = whole || moves || ids.length > alone_max;
    changed.clear();
    whole = false;
    try {
      await (all ? read_list() : read_alone(ids));
    } catch (error) {
      whole = true;
      show((before) => ({ ...before, error }));
    }
  };
  const concerns = ({ type, job_id, body }: ProjectEvent): boolean => {
    const known = job_id !== undefined && listed.has(job_id);
    if (type === "progress") {
      if (known) show((before) => ({ ...before, jobs: before.jobs?.map((job) => (job.id === job_id ? { ...job, progress: body as Job["progress"] } : job)) }));
      return false;
    }
    if (type === "dataset" || type === "split") return false;
    if (known && type !== "deleted") changed.add(job_id);
    // An unknown job is new, or of another page: the first page of the newest ones has each new job.
    else if (type === "deleted" || (!asked.cursor && body.from === null) || moves) whole = true;
    else return false;
    return true;
  };
  const missed = () => (whole = true);
  const end = read_live(async () => read(), concerns, Infinity, missed);
  return () => {
    stopped = true;
    end();
  };
}

export function use_job_list(asked: JobQuery): Shown & { again: () => void } {
  const path = list_path(asked);
  const [shown, set_shown] = useState<Shown>({ path });
  const [round, set_round] = useState(0);
  useLayoutEffect(() => follow_list(asked, set_shown), [path, round]);
  const now = shown.path === path ? shown : kept.get(path) ?? { path };
  return { ...now, again: () => set_round(round + 1) };
}
