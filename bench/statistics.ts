// The arithmetic of the tables: medians, ranges and ratios of interleaved rounds. Pure functions.

/** The result of several rounds of one figure. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: percentile(sorted, 0.5), low: percentile(sorted, 0), high: percentile(sorted, 1) };
}

/** The value at `fraction` (0 to 1) of the ascending list `sorted`, without interpolation. The list must not be empty. */
export function percentile(sorted: ArrayLike<number>, fraction: number): number {
  const value = sorted[Math.floor((sorted.length - 1) * fraction)];
  if (value === undefined) throw new Error("a percentile of no values");
  return value;
}

/** The ratio of `of` to `by` for each round. Adjacent rounds are compared, so that a slow minute of the machine affects both. */
export function pairedRatio(of: readonly number[], by: readonly number[]): Spread {
  if (of.length !== by.length) throw new Error(`rounds do not pair: ${of.length} and ${by.length}`);
  return spread(of.map((value, round) => value / (by[round] ?? Number.NaN)));
}
