// For pages that take many requests to read: not at each change, as a busy service has many a second. What is passed over is seen at the next poll.
import type { ProjectEvent } from "../api/shared_stream";

/** Says yes to a change of a job when `pause_ms` have gone since it last did. */
export function now_and_then(pause_ms: () => number) {
  let last = 0;
  return ({ type }: ProjectEvent): boolean => {
    if (type === "progress" || Date.now() - last < pause_ms()) return false;
    last = Date.now();
    return true;
  };
}
