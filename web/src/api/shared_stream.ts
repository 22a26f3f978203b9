// What happens to all jobs, as one stream for all tabs of the browser: a browser opens six connections to a service at most, and each stream
// takes one for as long as it lasts. The tab that holds the lock has the stream and tells the others; when it is closed, the next one gets the
// lock. Where there are no locks (plain http from another machine), each tab has a stream of its own.
import { signal } from "@preact/signals";
import { address, base } from "./base";
import type { ProjectEventType } from "./project_event_types";

export type Connection = "connecting" | "live" | "reconnecting" | "ended";

export interface ProjectEvent {
  type: ProjectEventType;
  job_id?: string;
  body: Record<string, any>;
}

export interface Listener {
  event: (event: ProjectEvent) => void;
  missed: () => void; // something may have happened that was not told: read again
}

type Message = { kind: "event"; event: ProjectEvent } | { kind: "connection"; connection: Connection } | { kind: "missed" } | { kind: "joined" };

export const connection = signal<Connection>("connecting");

const types: ProjectEventType[] = ["state", "progress", "checkpoint", "end", "dataset", "split", "deleted", "gap"];
const shared_name = `slipway events ${base}`;
const listeners = new Set<Listener>();
let stop: (() => void) | undefined;

function hear(message: Message) {
  if (message.kind === "connection") connection.value = message.connection;
  for (const listener of listeners) {
    if (message.kind === "event") listener.event(message.event);
    if (message.kind === "missed") listener.missed();
  }
}

function open(tell: (message: Message) => void) {
  const source = new EventSource(address(`/v1/events?types=${types.join(",")}`));
  let opened = false;
  const say = (now: Connection) => tell({ kind: "connection", connection: now });
  source.onopen = () => {
    say("live");
    if (!opened) tell({ kind: "missed" }); // a later one goes on after the last event, or says "gap"
    opened = true;
  };
  // "ended": refused (signed out, too many streams); the browser does not come back by itself.
  source.onerror = () => say(source.readyState === EventSource.CLOSED ? "ended" : "reconnecting");
  for (const type of types) {
    source.addEventListener(type, (message) => {
      const data = JSON.parse((message as MessageEvent<string>).data);
      if (type === "gap") tell({ kind: "missed" });
      else tell({ kind: "event", event: { type, job_id: data.job_id, body: data.body ?? {} } });
    });
  }
  return () => source.close();
}

function share() {
  const channel = new BroadcastChannel(shared_name);
  const given_up = new AbortController();
  let release = () => {};
  let over = false;
  channel.onmessage = ({ data }: MessageEvent<Message>) => hear(data);
  channel.postMessage({ kind: "joined" });
  navigator.locks
    .request(shared_name, { signal: given_up.signal }, () => new Promise<void>((done) => {
      if (over) return done(); // granted while it was given up
      const tell = (message: Message) => {
        hear(message);
        channel.postMessage(message);
      };
      const close = open(tell);
      channel.onmessage = ({ data }: MessageEvent<Message>) => {
        if (data.kind === "joined") channel.postMessage({ kind: "connection", connection: connection.value });
      };
      release = () => {
        close();
        done();
      };
    }))
    .catch(() => undefined); // given up before it was this tab's turn
  return () => {
    over = true;
    release();
    given_up.abort();
    channel.close();
  };
}

/** Tells `listener` what happens from now on; ends when what it returns is called. */
export function subscribe(listener: Listener): () => void {
  listeners.add(listener);
  stop ??= navigator.locks && "BroadcastChannel" in window ? share() : open(hear);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    stop?.();
    stop = undefined;
    connection.value = "connecting";
  };
}
