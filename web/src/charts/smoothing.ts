// Smoothing: an exponential moving average that is corrected for its start, as TensorBoard's. Without the correction the first values would
// weigh too much. What is not finite is passed over: it stays a gap in the raw line.

/** `factor` in [0, 1): 0 gives the values themselves. */
export function smoothed(values: number[], factor: number): number[] {
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) return NaN;
    sum = factor * sum + (1 - factor) * value;
    weight = factor * weight + (1 - factor);
    return sum / weight;
  });
}
