/**
 * Who comes before whom: the one comparison that every engine uses.
 *
 * The key is (lane, joinedAt, sequence, id). Lanes first; inside a lane the earlier arrival; two arrivals in the same
 * millisecond by the sequence their engine gave them; and where two engines gave the same sequence (peers that could
 * not talk) by id, so that the order is total and the same everywhere.
 */
export interface OrderKey {
  readonly lane: number;
  readonly joinedAt: number;
  readonly sequence: number;
  readonly id: string;
}

/** Negative when `a` comes before `b`, positive when after, 0 only for the same place. */
export function compareOrder(a: OrderKey, b: OrderKey): number {
  if (a.lane !== b.lane) return a.lane - b.lane;
  if (a.joinedAt !== b.joinedAt) return a.joinedAt - b.joinedAt;
  if (a.sequence !== b.sequence) return a.sequence - b.sequence;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
