// Labels of an axis: all with the same number of decimals, as few as tell them apart.
const decimals_max = 8;

export function tick_labels(values: (number | null)[]): string[] {
  const shown = values.filter((value): value is number => value !== null);
  const largest = Math.max(...shown.map(Math.abs), 0);
  const smallest = Math.min(...shown.filter((value) => value !== 0).map(Math.abs), Infinity);
  if (largest >= 1e6 && largest < 1e9) return tick_labels(values.map((value) => (value === null ? null : +(value / 1e6).toPrecision(12)))).map((label) => label && `${label} M`);
  if (largest >= 1e9 || (smallest < 1e-4 && largest < 1)) return values.map((value) => (value === null ? "" : short(value)));
  const decimals = Math.max(0, ...shown.map(decimals_of));
  return values.map((value) => (value === null ? "" : value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })));
}

/** On a logarithmic axis neighbours differ by factors: each label says what it needs. The end of the axis is no round value: it has none. */
export function log_tick_labels(values: (number | null)[]): string[] {
  const is_round = (value: number) => ["1", "2", "5"].includes(String(+value.toPrecision(6)).replace(/e.*$/, "").replace(/[.0]/g, ""));
  const round = values.filter((value) => value !== null && is_round(value));
  return values.map((value) => (value === null || (round.length > 1 && !is_round(value)) ? "" : short(+value.toPrecision(3))));
}

/** Of what is counted: nothing between two whole numbers. */
export function count_tick_labels(values: (number | null)[]): string[] {
  return tick_labels(values.map((value) => (value !== null && Number.isInteger(value) ? value : null)));
}

function decimals_of(value: number): number {
  const text = String(+value.toPrecision(12));
  if (text.includes("e-")) return decimals_max;
  return text.includes(".") ? text.length - text.indexOf(".") - 1 : 0;
}

function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6 || (size !== 0 && size < 1e-3)) return (+value.toPrecision(6)).toExponential().replace("e+", "e");
  return String(+value.toPrecision(6));
}

export function time_tick_labels(values: (number | null)[]): string[] {
  const largest = Math.max(...values.map((value) => value ?? 0));
  const [unit, name] = largest >= 7200 ? [3600, "h"] : largest >= 180 ? [60, "min"] : [1, "s"];
  return tick_labels(values.map((value) => (value === null ? null : +(value / unit).toPrecision(6)))).map((label) => label && `${label} ${name}`);
}
