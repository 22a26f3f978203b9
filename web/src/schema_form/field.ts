// What is around the control of a field: its name, what it means, what it was before, and what the service says is wrong with it.
import type { VNode } from "preact";
import { any_value } from "../format";
import { html } from "../html";
import type { NodeProps } from "./node";
import { value_at } from "./pointer";
import { range_words } from "./schema";

export const field_id = (form_id: string, pointer: string) => `${form_id}${pointer}`;

interface FieldProps extends NodeProps {
  control: (attributes: object) => VNode;
  wrong?: string;
}

export function Problems({ messages, id }: { messages: string[]; id: string }) {
  return html`<span id=${id} class="error field-error">${messages.join(" ")}</span>`;
}

export function Changed({ form, pointer, value }: Pick<NodeProps, "form" | "pointer" | "value">) {
  if (form.before === undefined) return null;
  const before = value_at(form.before, pointer);
  if (JSON.stringify(before) === JSON.stringify(value)) return null;
  return html`<span class="changed">was ${before === undefined ? "not set" : any_value(before)}</span>`;
}

export function Field({ form, schema, value, pointer, name, required, control, wrong }: FieldProps) {
  const id = field_id(form.id, pointer);
  const messages = [...(form.problems.get(pointer) ?? []), ...(wrong ? [wrong] : [])];
  const help = [schema.description, range_words(schema) && `(${range_words(schema)})`].filter(Boolean).join(" ");
  const described = [help && `${id} help`, messages.length > 0 && `${id} problems`].filter(Boolean).map((one) => String(one).replaceAll(" ", "-")).join(" ");
  return html`<div class="field">
    <label for=${id}>${name}${required && html`<span class="hint"> required</span>`}</label>
    ${control({ id, "aria-describedby": described || undefined, "aria-invalid": messages.length > 0 ? "true" : undefined })}
    <${Changed} form=${form} pointer=${pointer} value=${value} />
    ${messages.length > 0 && html`<${Problems} messages=${messages} id=${`${id}-problems`} />`}
    ${help && html`<span id=${`${id}-help`} class="hint help">${help}</span>`}
  </div>`;
}
