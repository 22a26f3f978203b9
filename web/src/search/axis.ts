// Where the values of a parameter lie on an axis from 0 to 1: by their order where they are words, by their logarithm where the space says so.
import type { SweepTrial } from "../api/schema";
import { any_value } from "../format";

export interface Axis {
  name: string;
  place: (trial: SweepTrial) => number | undefined; // none: the trial has no such value
  label_at: (place: number) => string; // what lies there
  ends: [string, string]; // labels of 0 and 1
}

type Pick = (trial: SweepTrial) => unknown;

function of_numbers(name: string, values: number[], pick: Pick, log: boolean): Axis {
  const scale = (value: number) => (log ? Math.log(value) : value);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const width = scale(high) - scale(low);
  const place = (trial: SweepTrial) => {
    const value = pick(trial);
    if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
    return width > 0 ? (scale(value) - scale(low)) / width : 0.5;
  };
  const value_at = (at: number) => (log ? Math.exp(scale(low) + at * width) : low + at * width);
  const label_at = (at: number) => any_value(+value_at(at).toPrecision(4));
  return { name, place, label_at, ends: [label_at(0), label_at(1)] };
}

function of_words(name: string, values: unknown[], pick: Pick): Axis {
  const words = [...new Set(values.map((value) => JSON.stringify(value)))].sort();
  const last = Math.max(1, words.length - 1);
  const place = (trial: SweepTrial) => {
    const found = words.indexOf(JSON.stringify(pick(trial)) ?? "");
    return found < 0 ? undefined : words.length === 1 ? 0.5 : found / last;
  };
  const label_at = (at: number) => any_value(JSON.parse(words[Math.round(at * (words.length - 1))]));
  return { name, place, label_at, ends: [label_at(0), label_at(1)] };
}

/** None when no trial has a value. */
function axis_of(name: string, trials: SweepTrial[], pick: Pick, log: boolean): Axis | undefined {
  const values = trials.map(pick).filter((value) => value !== undefined && value !== null);
  if (values.length === 0) return undefined;
  const numbers = values.filter((value): value is number => typeof value === "number");
  if (numbers.length < values.length) return of_words(name, values, pick);
  return of_numbers(name, numbers, pick, log && numbers.every((value) => value > 0));
}

/** An axis for each parameter of the space, and the objective last. */
export function axes_of(trials: SweepTrial[], space: Record<string, any>, objective: string): Axis[] {
  const parameters = Object.entries(space).map(([path, { type }]) => axis_of(path, trials, (trial) => trial.point[path], /^(q_?)?log|log_/.test(type ?? "")));
  return [...parameters, axis_of(objective, trials, (trial) => trial.value, false)].filter((axis): axis is Axis => axis !== undefined);
}
