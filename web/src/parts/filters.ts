// Fields of a form that filter what a page shows: text is taken over when somebody stops typing.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../html";

const typing_pause_ms = 300;
const value_of = (event: Event) => (event.target as HTMLInputElement).value;

interface FieldProps {
  label: string;
  value: string;
  set: (value: string) => void;
}

export function TextFilter({ label, value, set, hint, type = "search" }: FieldProps & { hint?: string; type?: string }) {
  const [typed, set_typed] = useState(value);
  const latest = useRef(set); // what else was chosen during the pause stays
  latest.current = set;
  useEffect(() => set_typed(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => latest.current(typed.trim()), typing_pause_ms);
    return () => clearTimeout(timer);
  }, [typed]);
  return html`<label>${label} <input type=${type} value=${typed} placeholder=${hint} onInput=${(event: Event) => set_typed(value_of(event))} /></label>`;
}

export function ChoiceFilter({ label, value, set, choices }: FieldProps & { choices: [string, string][] }) {
  return html`<label>${label} <select value=${value} onChange=${(event: Event) => set(value_of(event))}>
    ${choices.map(([key, name]) => html`<option key=${key} value=${key} selected=${key === value}>${name}</option>`)}</select></label>`;
}
