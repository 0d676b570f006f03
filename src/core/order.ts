/**
 * The order of places. Inside a lane it is the sequence alone: engines give out rising sequences, a draw shuffles those of the
 * gathered visitors, and a place that is moved back gets a later one. The time of joining is shown to people and does not
 * count here; `lanes.ts` decides which lane is served next.
 */
export interface OrderKey {
  readonly lane: number;
  readonly joinedAt: number;
  readonly sequence: number;
  readonly id: string;
}

/** Negative when `a` comes before `b`, positive when after, 0 only for the same place. */
export function compareOrder(a: Pick<OrderKey, "sequence">, b: Pick<OrderKey, "sequence">): number {
  return a.sequence - b.sequence;
}

/** How many of the rising numbers are below `value`. */
export function lowerBound(rising: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rising[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
