// Something that is shown as long as its page is: read when the page opens, again when the stream says that jobs have changed, and now and
// then besides. What was read last is kept for the tab, so that Back shows it at once, at the place where one was.
import { useLayoutEffect, useState } from "preact/hooks";
import { connection, subscribe, type ProjectEvent } from "../api/shared_stream";

const pause_ms = 1000; // a burst of changes is read together
const poll_ms = 15000; // for what is no event
const poll_without_stream_ms = 3000;
const kept_max = 50;
const kept = new Map<string, unknown>();

function keep(key: string, value: unknown) {
  kept.delete(key);
  kept.set(key, value);
  if (kept.size > kept_max) kept.delete(kept.keys().next().value!);
}

/**
 * Calls `read` at first, whenever `concerns` says that an event is one to read again for, and each `every_ms`; never two at a time.
 * Infinity: only while there is no stream. `missed` is called before `read` when more than the events said may have changed.
 */
export function read_live(read: () => Promise<void>, concerns: (event: ProjectEvent) => boolean, every_ms = poll_ms, missed = () => {}): () => void {
  let timer = 0;
  let busy = false;
  let again = false;
  let stopped = false;
  const run = async () => {
    timer = 0;
    if (busy) return void (again = true);
    busy = true;
    await read();
    busy = false;
    if (again) schedule();
    again = false;
  };
  const schedule = () => {
    if (!timer && !stopped) timer = window.setTimeout(run, pause_ms);
  };
  const read_all = () => {
    missed();
    schedule();
  };
  const end = subscribe({ event: (event) => concerns(event) && schedule(), missed: read_all });
  let polled = Date.now();
  const poll = window.setInterval(() => {
    const wait = connection.value === "live" ? every_ms : poll_without_stream_ms;
    if (document.hidden || Date.now() - polled < wait) return;
    polled = Date.now();
    read_all();
  }, poll_without_stream_ms);
  void run();
  return () => {
    stopped = true;
    end();
    clearInterval(poll);
    clearTimeout(timer);
  };
}

const never = () => false;
const any_change = (event: ProjectEvent) => event.type !== "progress";

/** What `read` gave last, and what its last try threw; `key` says what it is. Ends when `is_final` says so. */
export function use_refreshed<T>(key: string, read: () => Promise<T>, is_final: (value: T) => boolean = never, concerns = any_change) {
  const [state, set_state] = useState<{ key: string; value?: T; error?: unknown }>({ key });
  const [asked, set_asked] = useState(0);
  useLayoutEffect(() => { // before the frame without it is painted: the request need not wait for that
    let stopped = false;
    let end = () => {};
    const refresh = async () => {
      try {
        const value = await read();
        if (stopped) return;
        keep(key, value);
        set_state({ key, value });
        if (is_final(value)) end();
      } catch (error) {
        if (!stopped) set_state((before) => ({ key, value: before.key === key ? before.value : undefined, error }));
      }
    };
    end = read_live(refresh, concerns);
    return () => {
      stopped = true;
      end();
    };
  }, [key, asked]);
  const value = (state.key === key ? state.value : undefined) ?? (kept.get(key) as T | undefined);
  return { value, error: state.key === key ? state.error : undefined, again: () => set_asked(asked + 1) };
}
