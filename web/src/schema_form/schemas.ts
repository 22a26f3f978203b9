// The schemas of the bodies that forms are made for. Read when the first form opens, and kept.
import { get } from "../api/client";
import type { Definitions } from "./schema";

let read: Promise<Definitions> | undefined;

export function schemas(): Promise<Definitions> {
  read ??= get<Definitions>("/schemas.json").catch((problem) => {
    read = undefined; // the next form tries again
    throw problem;
  });
  return read;
}
