// A state as a coloured word; the word carries the meaning, the colour repeats it.
import { html } from "../html";

export function State({ state }: { state: string }) {
  return html`<span class=${`state state-${state}`}>${state.replace("_", " ")}</span>`;
}
