// The events of one job from now on: what it was before is read as metrics of a bounded number of points, not replayed.
import { address } from "./base";
import { event_types, type EventType } from "./event_types";

export interface JobEvent {
  sequence: number;
  type: EventType;
  body: Record<string, any>;
}

interface Listener {
  event: (event: JobEvent) => void;
  missed: () => void; // the stream begins, without a place to go on from, or was refused: read the job now
  connection: (connection: "live" | "reconnecting" | "ended") => void;
}

const newest = Number.MAX_SAFE_INTEGER; // beyond the last event: taken as the last
const retry_ms = 3000;

export function follow(job_id: string, listener: Listener): () => void {
  let source: EventSource;
  let last = 0;
  let timer = 0;

  const receive = (type: EventType) => (message: Event) => {
    const { lastEventId, data } = message as MessageEvent<string>;
    if (data === undefined) return; // a connection error is also called "error", never one of ours
    if (type === "gap") return listener.missed();
    const sequence = Number(lastEventId);
    if (sequence <= last) return;
    last = sequence;
    listener.event({ sequence, type, body: JSON.parse(data) });
    if (type !== "end") return;
    source.close(); // the stream has ended for good: the browser must not reconnect
    listener.connection("ended");
  };

  const open = () => {
    source = new EventSource(address(`/v1/jobs/${job_id}/events?after=${last || newest}`));
    source.onopen = () => {
      listener.connection("live");
      if (last === 0) listener.missed();
    };
    source.onerror = () => {
      const refused = source.readyState === EventSource.CLOSED; // the job has ended, or the service says no
      listener.connection(refused ? "ended" : "reconnecting");
      if (!refused) return;
      listener.missed();
      timer = window.setTimeout(open, retry_ms);
    };
    for (const type of event_types) source.addEventListener(type, receive(type));
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
