// What the service says of a body, by the field that it says it of.
import { ApiError } from "../api/client";

/** `prefix`: where the form's value is in the body. */
export function problems_of(error: unknown, prefix = ""): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  if (!(error instanceof ApiError)) return found;
  for (const { pointer, message } of error.problem.errors ?? []) {
    const at = pointer.startsWith(prefix) ? pointer.slice(prefix.length) : pointer;
    found.set(at, [...(found.get(at) ?? []), message]);
  }
  return found;
}
