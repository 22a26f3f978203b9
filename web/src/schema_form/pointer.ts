// JSON pointers (RFC 6901): how the service names a field of a body.
import { is_object } from "./schema";

export const below = (pointer: string, name: string | number) => `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;

const parts_of = (pointer: string) => pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

/** The value at `pointer`; undefined: there is none. */
export function value_at(value: unknown, pointer: string): unknown {
  let at = value;
  for (const part of parts_of(pointer)) {
    if (Array.isArray(at)) at = at[Number(part)];
    else if (is_object(at)) at = at[part];
    else return undefined;
  }
  return at;
}

/** Pointers to what differs: of objects each field, of lists and all else the whole. */
export function differences(before: unknown, after: unknown, pointer = ""): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (!is_object(before) || !is_object(after)) return [pointer];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => differences(before[name], after[name], below(pointer, name)));
}
