// A field of a form for whatever its schema says: one row of a table for each kind of schema.
import { useState } from "preact/hooks";
import type { FunctionComponent } from "preact";
import { html } from "../html";
import { Changed, Problems, field_id } from "./field";
import { Choice, JsonText, Text } from "./leaf";
import { below } from "./pointer";
import { alternatives_of, begin_branch, branch_name, branch_of, discriminator_of, is_object, resolved, type Definitions, type Schema } from "./schema";

/** What all fields of a form share. */
export interface FormContext {
  id: string; // of the form, for the ids of its fields
  definitions: Definitions;
  problems: ReadonlyMap<string, string[]>; // by pointer
  before?: unknown; // what the form began with, if changes are to be marked
  suggestions?: Record<string, string[]>; // by pointer: words that the service knows for a text
}

export interface NodeProps {
  form: FormContext;
  schema: Schema;
  value: unknown;
  set: (value: unknown) => void; // undefined: not set
  pointer: string;
  name: string;
  required: boolean;
}

const value_of = (event: Event) => (event.target as HTMLSelectElement).value;

/** Problems of a group: those of a pointer that no field of it has. */
function GroupProblems({ form, pointer }: NodeProps) {
  const messages = form.problems.get(pointer);
  return messages ? html`<${Problems} messages=${messages} id=${`${field_id(form.id, pointer)}-problems`} />` : null;
}

interface MembersProps extends NodeProps {
  hidden?: string; // a field that is chosen elsewhere
  first?: string[];
}

/** The fields of an object: those that are needed first, the others on demand. */
export function Members({ form, schema, value, set, pointer, required, hidden, first = [] }: MembersProps) {
  const fields = is_object(value) ? value : {};
  const names = Object.keys(schema.properties ?? {}).filter((name) => name !== hidden);
  const is_needed = (name: string) => first.includes(name) || Boolean(schema.required?.includes(name));
  const more = names.filter((name) => !is_needed(name));
  const [open, set_open] = useState(() => more.length <= 2 || more.some((name) => fields[name] !== undefined));
  const has_problem = more.some((name) => [...form.problems.keys()].some((one) => `${one}/`.startsWith(`${below(pointer, name)}/`)));
  const set_member = (name: string) => (member: unknown) => {
    const { [name]: _, ...others } = fields;
    const next = member === undefined ? others : { ...fields, [name]: member };
    set(Object.keys(next).length === 0 && !required ? undefined : next);
  };
  const node = (name: string) => html`<${Node} key=${name} form=${form} schema=${schema.properties![name]} value=${fields[name]} set=${set_member(name)}
    pointer=${below(pointer, name)} name=${name} required=${Boolean(schema.required?.includes(name)) && (required || value !== undefined)} />`;
  const needed = [...first.filter((name) => names.includes(name)), ...names.filter((name) => is_needed(name) && !first.includes(name))];
  return html`${needed.map(node)}
    ${more.length > 0 && (open || has_problem ? more.map(node)
      : html`<p><button type="button" class="plain more" onClick=${() => set_open(true)}>More of ${pointer.split("/").at(-1) || "the form"}: ${more.slice(0, 4).join(", ")}${more.length > 4 ? "…" : ""}</button></p>`)}`;
}

function Group(props: NodeProps) {
  return html`<fieldset><legend>${props.name}</legend><${GroupProblems} ...${props} /><${Members} ...${props} /></fieldset>`;
}

/** Problems of fields that the chosen branch does not have, or that are there once one is chosen. */
function problems_without_field(form: FormContext, pointer: string, branch: Schema | undefined): string[] {
  const has_field = (one: string) => Boolean(branch?.properties?.[one.slice(pointer.length + 1).split("/")[0]]);
  return [...form.problems].filter(([one]) => one.startsWith(`${pointer}/`) && !has_field(one)).flatMap(([, messages]) => messages);
}

/** One of several branches. */
function Alternatives(props: NodeProps) {
  const { form, schema, value, set, pointer, name, required } = props;
  const branches = alternatives_of(schema)!.map((branch) => resolved(branch, form.definitions));
  const at = branch_of(branches, value);
  const branch = branches[at];
  const hidden = discriminator_of(branches);
  const id = field_id(form.id, hidden && branch ? below(pointer, hidden) : pointer);
  const choose = (event: Event) => set(value_of(event) === "" ? undefined : begin_branch(branches, branches[Number(value_of(event))], value));
  const messages = [...(hidden && branch ? form.problems.get(below(pointer, hidden)) ?? [] : []), ...problems_without_field(form, pointer, branch)];
  return html`<fieldset><legend>${name}</legend><${GroupProblems} ...${props} />
    <div class="field"><label for=${id}>${hidden ?? "form"}</label>
      <select id=${id} onChange=${choose}>
        <option value="" selected=${at < 0}>${required ? "choose…" : "not set"}</option>
        ${branches.map((one, index) => html`<option key=${index} value=${index} selected=${index === at}>${branch_name(branches, one)}</option>`)}</select>
      ${hidden && branch && html`<${Changed} form=${form} pointer=${below(pointer, hidden)} value=${(value as Record<string, unknown>)[hidden]} />`}
      ${messages.length > 0 && html`<${Problems} messages=${messages} id=${`${id}-problems`} />`}
      ${schema.description && html`<span class="hint help">${schema.description}</span>`}</div>
    ${branch?.properties ? html`<${Members} key=${at} ...${props} schema=${branch} hidden=${hidden} required=${true} />`
      : branch && html`<${Node} ...${props} schema=${{ ...branch, description: undefined }} required=${true} />`}
  </fieldset>`;
}

function List(props: NodeProps) {
  const { form, schema, value, set, pointer, name } = props;
  const items = Array.isArray(value) ? value : [];
  const put = (next: unknown[]) => set(next.length === 0 ? undefined : next);
  return html`<fieldset><legend>${name}</legend><${GroupProblems} ...${props} />
    ${schema.description && html`<p class="hint help">${schema.description}</p>`}
    ${items.map((item, index) => html`<div class="item" key=${index}><${Node} form=${form} schema=${schema.items ?? {}} value=${item} required=${true}
      set=${(next: unknown) => put(items.map((one, at) => (at === index ? next ?? null : one)))} pointer=${below(pointer, index)} name=${`${name} ${index + 1}`} />
      <button type="button" class="small" aria-label=${`Remove ${name} ${index + 1}`} onClick=${() => put(items.filter((_, at) => at !== index))}>Remove</button></div>`)}
    <button type="button" class="small" aria-label=${`Add to ${name}`} onClick=${() => put([...items, resolved(schema.items ?? {}, form.definitions).type === "string" ? "" : null])}>Add</button>
    <${Changed} form=${form} pointer=${pointer} value=${value} /></fieldset>`;
}

/** Names of somebody's own, each with a text. */
function TextMap(props: NodeProps) {
  const { form, schema, value, set, pointer, name } = props;
  const [added, set_added] = useState("");
  const fields = is_object(value) ? value : {};
  const put = (next: Record<string, unknown>) => set(Object.keys(next).length === 0 ? undefined : next);
  const add = () => {
    if (added.trim()) put({ ...fields, [added.trim()]: "" });
    set_added("");
  };
  return html`<fieldset><legend>${name}</legend><${GroupProblems} ...${props} />
    ${schema.description && html`<p class="hint help">${schema.description}</p>`}
    ${Object.keys(fields).map((key) => html`<div class="item" key=${key}><${Text} form=${form} schema=${{ type: "string" }} value=${fields[key]} required=${false}
      set=${(next: unknown) => put({ ...fields, [key]: next ?? "" })} pointer=${below(pointer, key)} name=${key} />
      <button type="button" class="small" aria-label=${`Remove ${key}`} onClick=${() => put(Object.fromEntries(Object.entries(fields).filter(([one]) => one !== key)))}>Remove</button></div>`)}
    <div class="item"><input type="text" aria-label=${`New name of ${name}`} placeholder="name" value=${added} onInput=${(event: Event) => set_added((event.target as HTMLInputElement).value)} />
      <button type="button" class="small" aria-label=${`Add to ${name}`} onClick=${add}>Add</button></div>
    <${Changed} form=${form} pointer=${pointer} value=${value} /></fieldset>`;
}

const kinds: { is: (schema: Schema) => boolean; Show: FunctionComponent<NodeProps> }[] = [
  { is: (schema) => alternatives_of(schema) !== undefined, Show: Alternatives },
  { is: ({ enum: words, type }) => words !== undefined || type === "boolean", Show: Choice },
  { is: ({ type }) => type === "array", Show: List },
  { is: ({ properties }) => properties !== undefined, Show: Group },
  { is: ({ additionalProperties }) => is_object(additionalProperties), Show: TextMap },
  { is: ({ type, const: constant }) => type === "string" || type === "number" || type === "integer" || constant !== undefined, Show: Text },
];

export function Node(props: NodeProps) {
  const schema = resolved(props.schema, props.form.definitions);
  const Show = kinds.find(({ is }) => is(schema))?.Show ?? JsonText;
  return html`<${Show} ...${props} schema=${schema} />`;
}

