/**
 * Who comes before whom. Inside a lane the sequence alone says it: an engine gives them out rising, a draw lets those who
 * gathered change theirs, and a place that is set back gets a later one. When somebody joined is told to people and does
 * not count here; which lane is served next is in `lanes.ts`.
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
