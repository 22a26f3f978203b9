// Light or dark may change while a page is open: charts are then made again.
import { signal } from "@preact/signals";
import { scheme } from "./palette";

export const scheme_revision = signal(0);
scheme.addEventListener("change", () => scheme_revision.value++);
