// The EventSource wrappers: a job's events, each sequence number once, across reconnects; and what happens to all jobs.
import { signal } from "@preact/signals";
import { event_types, type EventType } from "./api/event_types";
import type { ProjectEventType } from "./api/project_event_types";

export type Connection = "connecting" | "live" | "reconnecting" | "ended";

export interface JobEvent {
  sequence: number;
  type: EventType;
  body: Record<string, any>;
}

/** Follows a job from its first event. The browser reconnects by itself and sends Last-Event-ID. */
export function follow(job_id: string, on_event: (event: JobEvent) => void) {
  const connection = signal<Connection>("connecting");
  const source = new EventSource(`/v1/jobs/${job_id}/events`);
  let last = 0;
  source.onopen = () => (connection.value = "live");
  source.onerror = () => {
    if (connection.value !== "ended") connection.value = "reconnecting";
  };
  for (const type of event_types) {
    source.addEventListener(type, (message) => {
      const { lastEventId, data } = message as MessageEvent<string>;
      if (data === undefined) return; // a connection error is also called "error", never one of ours
      const sequence = Number(lastEventId);
      if (type !== "gap" && sequence <= last) return;
      last = Math.max(last, sequence);
      on_event({ sequence, type, body: JSON.parse(data) });
      if (type === "end") {
        connection.value = "ended";
        source.close(); // the stream has ended for good: the browser must not reconnect
      }
    });
  }
  return { connection, close: () => source.close() };
}

export interface ProjectEvent {
  type: ProjectEventType;
  job_id?: string;
  body: Record<string, any>;
}

const watched: ProjectEventType[] = ["state", "progress", "checkpoint", "end", "deleted", "gap"];

/** Follows all jobs that the caller sees, from now on. `opened` is called whenever something may have been missed. */
export function watch(on_event: (event: ProjectEvent) => void, opened: () => void) {
  const connection = signal<Connection>("connecting");
  const source = new EventSource(`/v1/events?types=${watched.join(",")}`);
  let seen = false;
  source.onopen = () => {
    connection.value = "live";
    if (!seen) opened(); // later ones go on after the last event, or say "gap"
    seen = true;
  };
  // "ended": refused (signed out, too many streams); the browser does not come back by itself.
  source.onerror = () => (connection.value = source.readyState === EventSource.CLOSED ? "ended" : "reconnecting");
  for (const type of watched) {
    source.addEventListener(type, (message) => {
      const data = JSON.parse((message as MessageEvent<string>).data);
      if (type === "gap") opened();
      else on_event({ type, job_id: data.job_id, body: data.body ?? {} });
    });
  }
  return { connection, close: () => source.close() };
}
