/**
 * The relaxed priority queue: which shard to add to, which to peek at, and which to pop.
 *
 * One long line is cut into independent shards, so that no server has to know all of them. An item is added to any shard. To
 * pop, a consumer peeks at the first items of a few random shards and pops from the shard with the best of them. The result
 * is not always the best of all, but one of the first few: its rank, the popped element index, grows with the number of
 * shards, falls quickly with the number of peeks, and does not depend on the number of items (Lin and Liang 2020, section 4).
 *
 * Between peek and pop others pop too (section 4.3). With `plain`, the pop takes whatever has moved up. With `secondBest`, it
 * takes it only if it is no worse than the second best item seen, and otherwise pops from the shard of that one. Lin and Liang
 * pop, look and put back; here the pop carries the limit and is refused in the same step, so nothing has to be put back and
 * no item is invisible for a moment.
 *
 * All functions are given what was seen and their dice; asking the shards is up to the engines.
 */

/** The order of items: the lower number first; between equal numbers, the lower id. */
export interface RelaxedKey {
  readonly priority: number;
  readonly id: string;
}

export type ConcurrencyPolicy = "plain" | "secondBest";

/** A random number in [0, 1). */
export type Dice = () => number;

/** The first keys of each shard as they were seen, best first, by shard number. */
export type Sight = ReadonlyMap<number, readonly RelaxedKey[]>;

/** One item to be popped. */
export interface PlannedPop {
  readonly shard: number;
  /** If the first of that shard is worse than this by then, nothing is popped there. */
  readonly unlessWorseThan: RelaxedKey | null;
  /** The shard to pop from in that case, whatever is there. */
  readonly otherwise: number | null;
}

/** Negative when `a` comes before `b`, positive when after, 0 only for the same item. */
export function compareKeys(a: RelaxedKey, b: RelaxedKey): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** `count` different shards to peek at, every choice equally likely; all shards if there are no more. */
export function shardsToPeek(shards: readonly number[], count: number, dice: Dice): number[] {
  if (count >= shards.length) return [...shards];
  // Floyd's method: as many throws as shards wanted, however many there are.
  const chosen: number[] = [];
  for (let last = shards.length - count; last < shards.length; last++) {
    const drawn = shards[Math.floor(dice() * (last + 1))]!;
    chosen.push(chosen.includes(drawn) ? shards[last]! : drawn);
  }
  return chosen;
}

/**
 * How many keys of each shard must be seen so that a plan for these picks never runs out of keys before the shard does:
 * as many as there are picks with that shard among them.
 */
export function keysToSee(picks: readonly (readonly number[])[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const shard of picks.flat()) counts.set(shard, (counts.get(shard) ?? 0) + 1);
  return counts;
}

/**
 * Plans one pop for each pick of shards, one after the other, as if each had been carried out before the next: the best
 * of what is left of the shards picked. Null where nothing was left.
 */
export function planPops(
  seen: Sight,
  picks: readonly (readonly number[])[],
  policy: ConcurrencyPolicy,
): (PlannedPop | null)[] {
  const planned = new Map<number, number>();
  const firstOf = (shard: number) => seen.get(shard)?.[planned.get(shard) ?? 0];
  return picks.map((shards) => {
    const [best, second] = bestTwo(shards, firstOf);
    if (!best) return null;
    planned.set(best.shard, (planned.get(best.shard) ?? 0) + 1);
    const isGuarded = policy === "secondBest" && second !== undefined;
    return {
      shard: best.shard,
      unlessWorseThan: isGuarded ? second.key : null,
      otherwise: isGuarded ? second.shard : null,
    };
  });
}

interface Head {
  readonly shard: number;
  readonly key: RelaxedKey;
}

function bestTwo(
  shards: readonly number[],
  firstOf: (shard: number) => RelaxedKey | undefined,
): [Head | undefined, Head | undefined] {
  let best: Head | undefined;
  let second: Head | undefined;
  for (const shard of shards) {
    const key = firstOf(shard);
    if (!key) continue;
    if (!best || compareKeys(key, best.key) < 0) {
      second = best;
      best = { shard, key };
    } else if (!second || compareKeys(key, second.key) < 0) second = { shard, key };
  }
  return [best, second];
}
