// Small controls of forms that change something: a value and what takes it over.
import { html } from "../html";

const value_of = (event: Event) => (event.target as HTMLInputElement).value;

interface ControlProps {
  label: string;
  value: string;
  set: (value: string) => void;
}

export function TextValue({ label, value, set, hint, type = "text" }: ControlProps & { hint?: string; type?: string }) {
  return html`<label>${label} <input type=${type} autocomplete="off" spellcheck=${false} value=${value} placeholder=${hint} onInput=${(event: Event) => set(value_of(event))} /></label>`;
}

export function ChoiceValue({ label, value, set, choices }: ControlProps & { choices: [string, string][] }) {
  return html`<label>${label} <select value=${value} onChange=${(event: Event) => set(value_of(event))}>
    ${choices.map(([key, name]) => html`<option key=${key} value=${key} selected=${key === value}>${name}</option>`)}</select></label>`;
}

export const same_words = (words: readonly string[]): [string, string][] => words.map((word) => [word, word]);
