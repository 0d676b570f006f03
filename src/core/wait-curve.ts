/**
 * The wait for every place of a line at once: points of (people ahead, wait), dense near the front. Between two points the
 * wait is on a straight line; beyond the last it goes on as between the last two. Made every few seconds; reading it
 * costs a few comparisons, however long the line is.
 */
import type { WaitPoint, WaitRange } from "./board.ts";

export interface WaitCurve {
  readonly madeAt: number;
  /** In milliseconds from `madeAt`. */
  readonly points: readonly WaitPoint[];
}

/** The wait of someone with `ahead` before them; null: the curve has no point. */
export function waitOn({ points }: Pick<WaitCurve, "points">, ahead: number): WaitRange | null {
  const last = points.length - 1;
  if (last < 0) return null;
  if (last === 0) return rangeOf(points[0]!);
  let from = 0;
  let to = last;
  while (to - from > 1) {
    const between = (from + to) >> 1;
    if (points[between]![0] <= ahead) from = between;
    else to = between;
  }
  const before = points[from]!;
  const after = points[to]!;
  const share = Math.max(0, (ahead - before[0]) / (after[0] - before[0]));
  return {
    low: before[1] + share * (after[1] - before[1]),
    middle: before[2] + share * (after[2] - before[2]),
    high: before[3] + share * (after[3] - before[3]),
  };
}

function rangeOf([, low, middle, high]: WaitPoint): WaitRange {
  return { low, middle, high };
}
