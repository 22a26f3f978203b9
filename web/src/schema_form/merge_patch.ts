// What turns one value into another as a JSON merge patch (RFC 7396), which is how the API takes changes.
import { is_object } from "./schema";

/** undefined: they are the same. */
export function merge_patch(before: unknown, after: unknown): unknown {
  if (JSON.stringify(before) === JSON.stringify(after)) return undefined;
  if (!is_object(before) || !is_object(after)) return after ?? null;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changes = [...names].map((name): [string, unknown] => [name, merge_patch(before[name], after[name])]);
  return Object.fromEntries(changes.filter(([, change]) => change !== undefined));
}
