// What a job has said: its log, what it compiled, its warnings and its states, with the times of each.
import { signal } from "@preact/signals";
import { get, query, type List } from "../api/client";
import type { JobEvent } from "../api/job_stream";
import type { Event } from "../api/schema";

export interface LogLine {
  sequence: number;
  time: string;
  level: string;
  message: string;
}

const lines_max = 2000;
const page_size = 200;
const types = "state,log,warning,compile";

type Words = (body: Record<string, any>) => { level: string; message: string };

const words: Record<string, Words> = {
  log: ({ level, message }) => ({ level, message }),
  warning: ({ message }) => ({ level: "warn", message }),
  compile: (body) => ({
    level: body.after_warm_up ? "warn" : "info",
    message: `compiled ${body.program} in ${Number(body.seconds ?? 0).toFixed(3)} s${body.cause ? `: ${body.cause}` : ""}`,
  }),
  state: ({ state, reason }) => ({ level: state === "failed" ? "error" : "state", message: reason?.message ? `${state}: ${reason.message}` : state }),
};

function line_of(sequence: number, type: string, body: Record<string, any>, time: string): LogLine | undefined {
  return words[type] && { sequence, time, ...words[type](body) };
}

export function job_log(id: string) {
  const lines = signal<LogLine[]>([]);
  let added: LogLine[] = [];
  let is_read = false; // until then what comes would stand before what was said earlier

  const show = () => {
    if (added.length === 0 || !is_read) return;
    const last = lines.value.at(-1)?.sequence ?? 0;
    lines.value = [...lines.value, ...added.filter((line) => line.sequence > last)].slice(-lines_max);
    added = [];
  };
  const add = ({ sequence, type, body }: JobEvent) => {
    const line = line_of(sequence, type, body, body.time ?? new Date().toISOString()); // a state says none: it has just come
    if (line) added.push(line);
  };
  /** Reads on from the last line that is there. */
  const read = async () => {
    is_read = false;
    let last = lines.value.at(-1)?.sequence ?? 0;
    for (;;) {
      const { items } = await get<List<Event>>(`/v1/jobs/${id}/events${query({ after: last, types, limit: page_size })}`);
      const read = items.flatMap(({ seq, type, time, body }) => line_of(seq, type, body ?? {}, time) ?? []);
      lines.value = [...lines.value, ...read].slice(-lines_max);
      if (items.length < page_size) break;
      last = items.at(-1)!.seq;
    }
    is_read = true;
    show();
  };
  return { lines, add, show, read };
}
