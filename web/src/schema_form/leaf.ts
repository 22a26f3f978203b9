// A field of one value: a word, a number, a text, yes or no. What is typed for a number and is none goes to the service as it is, which says what it wants.
import { useEffect, useState } from "preact/hooks";
import { html } from "../html";
import { Field } from "./field";
import type { NodeProps } from "./node";
import type { Schema } from "./schema";

const default_words = ({ default: standard }: Schema) => (standard === undefined ? "not set" : `default: ${typeof standard === "string" ? standard : JSON.stringify(standard)}`);
const value_of = (event: Event) => (event.target as HTMLInputElement).value;

/** Words to choose from; "": the default. */
export function Choice(props: NodeProps) {
  const { schema, value, set, required } = props;
  const choices: unknown[] = schema.type === "boolean" ? [true, false] : schema.enum ?? [];
  const choose = (event: Event) => set(choices.find((choice) => String(choice) === value_of(event)));
  const unknown = value !== undefined && !choices.includes(value);
  return html`<${Field} ...${props} control=${(attributes: object) => html`<select ...${attributes} onChange=${choose}>
    <option value="" selected=${value === undefined}>${required ? "choose…" : default_words(schema)}</option>
    ${unknown && html`<option value=${String(value)} selected>${String(value)}</option>`}
    ${choices.map((choice) => html`<option key=${String(choice)} value=${String(choice)} selected=${choice === value}>${String(choice)}</option>`)}</select>`} />`;
}

const shown = (value: unknown) => (value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));

function read(text: string, numeric: boolean): unknown {
  if (text.trim() === "") return undefined;
  const number = Number(text);
  return numeric && Number.isFinite(number) ? number : text;
}

export function Text(props: NodeProps) {
  const { schema, value, set, form, pointer } = props;
  const known = form.suggestions?.[pointer];
  const list = known && `${form.id}${pointer}-known`;
  const numeric = schema.type === "number" || schema.type === "integer";
  const [text, set_text] = useState(shown(value));
  // What is typed stays as long as it means the value: "1e-3" is not turned into "0.001" under somebody's fingers.
  useEffect(() => {
    if (read(text, numeric) !== value) set_text(shown(value));
  }, [value]);
  const typed = (event: Event) => {
    set_text(value_of(event));
    set(read(value_of(event), numeric));
  };
  return html`<${Field} ...${props} control=${(attributes: object) => html`<input ...${attributes} type="text" inputmode=${numeric ? "decimal" : "text"} autocomplete="off" spellcheck=${false}
    list=${list} value=${text} placeholder=${schema.default === undefined ? "" : default_words(schema)} onInput=${typed} />`} />
    ${known && html`<datalist id=${list}>${known.map((word) => html`<option key=${word} value=${word} />`)}</datalist>`}`;
}

/** What the form has no field for is written as JSON. */
export function JsonText(props: NodeProps) {
  const { value, set } = props;
  const [text, set_text] = useState(shown(value));
  const [wrong, set_wrong] = useState(false);
  const typed = (event: Event) => {
    set_text(value_of(event));
    try {
      set(value_of(event).trim() === "" ? undefined : JSON.parse(value_of(event)));
      set_wrong(false);
    } catch {
      set_wrong(true);
    }
  };
  return html`<${Field} ...${props} wrong=${wrong ? "This is not JSON." : undefined} control=${(attributes: object) =>
    html`<input ...${attributes} type="text" value=${text} placeholder="JSON" onInput=${typed} />`} />`;
}
