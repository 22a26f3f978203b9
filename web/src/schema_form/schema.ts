// What a form needs to know of a JSON schema of the API: its branches, which of them a value takes, and how to begin one.
//
// The documents have few forms: objects of named fields, maps, lists, words, numbers, and oneOf/anyOf of these. A branch is known by a field with
// a constant (optimizer: name is "adam"), else by the fields that only it has (train: epochs or steps). Validation stays with the service, which
// names every problem by pointer: a second set of rules here would differ from it one day.

export interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  items?: Schema;
  enum?: (string | number)[];
  const?: string | number;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  format?: string;
}

export type Definitions = Record<string, Schema>;
export type Fields = Record<string, unknown>;

/** The schema that a reference means; the words of the reference go before those of what it leads to. */
export function resolved(schema: Schema, definitions: Definitions): Schema {
  if (!schema.$ref) return schema;
  const { $ref, ...own } = schema;
  return { ...definitions[$ref.split("/").at(-1)!], ...own };
}

export const alternatives_of = (schema: Schema): Schema[] | undefined => schema.oneOf ?? schema.anyOf;

export const is_object = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

const constants = (schema: Schema): [string, string | number][] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, { const: constant }]): [string, string | number][] => (constant === undefined ? [] : [[name, constant]]));

/** The field that tells the branches apart, if each has a constant of its own for it. */
export function discriminator_of(branches: Schema[]): string | undefined {
  const [first] = constants(branches[0]);
  return first && branches.every((branch) => branch.properties?.[first[0]]?.const !== undefined) ? first[0] : undefined;
}

function own_fields(branches: Schema[], branch: Schema): string[] {
  const others = branches.filter((other) => other !== branch);
  const own = Object.keys(branch.properties ?? {}).filter((name) => !others.some(({ properties }) => properties?.[name]));
  const required = own.filter((name) => branch.required?.includes(name));
  return required.length > 0 ? required : own;
}

export function branch_name(branches: Schema[], branch: Schema): string {
  const discriminator = discriminator_of(branches);
  if (discriminator) return String(branch.properties![discriminator].const);
  return branch.properties ? own_fields(branches, branch).join(", ") : branch.type === "array" ? "list" : branch.type ?? "value";
}

const type_of = (value: unknown) => (Array.isArray(value) ? "array" : value === null ? "null" : typeof value);

/** Which branch the value takes; -1: there is no value, or it fits none. */
export function branch_of(branches: Schema[], value: unknown): number {
  if (value === undefined) return -1;
  if (!is_object(value)) return branches.findIndex(({ type }) => type === type_of(value) || (type === "integer" && typeof value === "number"));
  const discriminator = discriminator_of(branches);
  if (discriminator) return branches.findIndex(({ properties }) => properties?.[discriminator].const === value[discriminator]);
  const misses = (branch: Schema) =>
    Object.keys(value).filter((name) => !branch.properties?.[name]).length + (branch.required ?? []).filter((name) => !(name in value)).length;
  const least = Math.min(...branches.map(misses));
  return branches.findIndex((branch) => misses(branch) === least);
}

/** What a value becomes when somebody chooses `branch`: fields that the branch has as well are kept. */
export function begin_branch(branches: Schema[], branch: Schema, value: unknown): unknown {
  if (branch.type === "array") return [];
  if (!branch.properties) return undefined;
  const kept = is_object(value) ? Object.entries(value).filter(([name]) => branch.properties![name]) : [];
  const discriminator = discriminator_of(branches);
  return { ...Object.fromEntries(kept), ...(discriminator ? { [discriminator]: branch.properties[discriminator].const } : {}) };
}

/** "at least 0, below 1": what a number may be. */
export function range_words({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): string {
  const words = [
    minimum !== undefined && `at least ${minimum}`,
    exclusiveMinimum !== undefined && `above ${exclusiveMinimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
    exclusiveMaximum !== undefined && `below ${exclusiveMaximum}`,
  ];
  return words.filter(Boolean).join(", ");
}
