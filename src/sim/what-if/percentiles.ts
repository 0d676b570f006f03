/** Percentiles by the nearest rank: each is a value that occurred. */

/** Sorted, smallest first. */
export type Sorted = Float64Array & { readonly isSorted?: true };

export function sorted(values: Iterable<number>): Sorted {
  return Float64Array.from(values).sort();
}

/** The smallest value that at least this share of all values does not exceed; null of none. */
export function percentile(values: Sorted, share: number): number | null {
  if (values.length === 0) return null;
  const rank = Math.ceil(share * values.length - 1e-9);
  return values[Math.min(Math.max(rank, 1), values.length) - 1]!;
}

export interface Bin {
  readonly fromMs: number;
  readonly count: number;
}

/** Counts values in intervals of `widthMs`, from 0 to the largest value. */
export function binned(values: Sorted, widthMs: number): Bin[] {
  const bins: { fromMs: number; count: number }[] = [];
  for (const value of values) {
    const index = Math.floor(value / widthMs);
    while (bins.length <= index) bins.push({ fromMs: bins.length * widthMs, count: 0 });
    bins[index]!.count++;
  }
  return bins;
}
