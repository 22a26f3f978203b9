// The fields of a spec that its author chose: the service fills in every default, and a form of all of them is too long to read.
import { is_object, type Fields } from "./schema";

const tags = ["name", "type", "arch"]; // a field that says which other fields there are

const kept_of = (fields: Fields, names: string[]): Fields => Object.fromEntries(names.filter((name) => name in fields).map((name) => [name, fields[name]]));

/** The shortest spec of the same kind: what a job needs, with the values of `spec`. */
export function shortest_spec(spec: Fields): Fields {
  const part = (name: string, names: string[]) => kept_of(is_object(spec[name]) ? spec[name] : {}, names);
  const train = part("train", ["epochs", "steps", "optimizer"]);
  return {
    ...kept_of(spec, ["name", "project"]),
    model: part("model", ["arch", "layers", "from"]),
    task: part("task", ["type"]),
    data: part("data", ["dataset"]),
    train: is_object(train.optimizer) ? { ...train, optimizer: kept_of(train.optimizer, ["name", "lr"]) } : train,
  };
}

/** `spec` without the values that the service has filled into `shortest`, which gave `filled`. */
export function chosen_fields(spec: unknown, filled: unknown, shortest: unknown): unknown {
  if (shortest === undefined && JSON.stringify(spec) === JSON.stringify(filled)) return undefined;
  if (!is_object(spec) || !is_object(filled)) return spec;
  if (tags.some((tag) => spec[tag] !== filled[tag] && !(is_object(shortest) && tag in shortest))) return spec;
  const inner = (name: string) => chosen_fields(spec[name], filled[name], is_object(shortest) ? shortest[name] : undefined);
  return Object.fromEntries(Object.keys(spec).map((name) => [name, inner(name)]).filter(([, value]) => value !== undefined));
}
