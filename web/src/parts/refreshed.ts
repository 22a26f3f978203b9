// Something that is read again every two seconds while it is on screen.
import { useEffect, useState } from "preact/hooks";

const refresh_ms = 2000;

/// What `read` gave last, and what its last try threw. Ends when `is_final` says so.
export function use_refreshed<T>(read: () => Promise<T>, is_final: (value: T) => boolean, inputs: unknown[]) {
  const [value, set_value] = useState<T>();
  const [error, set_error] = useState<unknown>();
  useEffect(() => {
    let stopped = false;
    let timer = 0;
    const refresh = async () => {
      let done = false;
      try {
        const now = await read();
        if (stopped) return;
        set_value(() => now);
        set_error(undefined);
        done = is_final(now);
      } catch (problem) {
        if (!stopped) set_error(problem);
      }
      if (!stopped && !done) timer = window.setTimeout(refresh, refresh_ms);
    };
    refresh();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, inputs);
  return { value, error };
}
