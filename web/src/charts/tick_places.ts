// Where the marks of an axis are, and which of them have labels. As many as there is room for, by construction: uPlot's own marks of a
// logarithmic axis never end where the first step from the least value leaves its decade (0.097 + 0.01 becomes 0.11, and 0.22 is rounded to 0),
// and it finds no marks at all beyond 1e32.
const steps = [1, 2, 2.5, 5, 10];
const decades_max = 20; // with more of them only powers of ten are marked
const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** Round values from `min` to `max`, at most `count` + 1. None where the range is no range. */
export function linear_ticks(min: number, max: number, count: number): number[] {
  const least = max / count - min / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * steps.find((one) => one * power >= least || one === 10)!;
  if (!(step > 0 && Number.isFinite(step))) return [];
  const first = Math.ceil(min / step);
  const length = Math.max(0, Math.min(count, Math.floor(max / step) - first) + 1);
  return Array.from({ length }, (_, index) => +((first + index) * step).toPrecision(12));
}

/** Digits of every decade from `min` to `max`, which are above 0; within one decade, round values. */
export function log_ticks(min: number, max: number, count: number): number[] {
  const first = Math.floor(Math.log10(min));
  const last = Math.floor(Math.log10(max));
  if (!Number.isFinite(first) || !Number.isFinite(last)) return [];
  const marked = last - first > decades_max ? [1] : digits;
  const found: number[] = [];
  for (let exponent = first; exponent <= last; exponent++) found.push(...marked.map((digit) => Number(`${digit}e${exponent}`)));
  const inside = found.filter((value) => value >= min && value <= max);
  return inside.length > 1 ? inside : linear_ticks(min, max, count);
}

/** Of labels that do not all have room, which ones come first: powers of ten, then twos and fives. */
function rank(value: number): number {
  const text = (+value.toPrecision(6)).toExponential();
  return /^1e/.test(text) ? 0 : /^[25]e/.test(text) ? 1 : 2;
}

/** The marks that have a label, at least `space_px` from each other, and null in place of the others. */
export function with_room(values: number[], place_px: (value: number) => number, space_px: number): (number | null)[] {
  const kept: number[] = [];
  const places = values.map(place_px);
  const order = values.map((_, index) => index).sort((a, b) => rank(values[a]) - rank(values[b]) || b - a);
  for (const index of order) if (kept.every((other) => Math.abs(places[other] - places[index]) >= space_px)) kept.push(index);
  return values.map((value, index) => (kept.includes(index) ? value : null));
}
