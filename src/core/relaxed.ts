/**
 * The relaxed priority queue: which shard to add to, which to peek at, and which to pop.
 *
 * One long line is cut into shards that know nothing of each other, so that no server is asked about all of them. An
 * item is added to any shard. Whoever wants the best item peeks at the first items of a few shards, chosen by
 * dice, and pops where the best of them stood. What comes out is not always the best of all, but one of the first few:
 * how far down it stood, its popped element index, grows with the number of shards, falls quickly with the number of
 * peeks, and does not depend on how many items there are (Lin and Liang 2020, section 4).
 *
 * Between a look and a pop others pop too (section 4.3). With `plain`, whatever has moved up is taken. With
 * `secondBest`, it is only taken if it is no worse than the second best that was seen, else one is taken from where that
 * one stood. Lin and Liang pop, look, and put back; here the pop carries what it must not be worse than and is refused
 * in the same step, so that nothing has to be put back and nobody misses an item that is in two hands for a moment.
 *
 * Everything here is told what was seen and handed its dice; asking the shards is the engines' work.
 */

/** Where an item stands: the lower number first, and where two are equal the lower id. */
export interface RelaxedKey {
  readonly priority: number;
  readonly id: string;
}

export type ConcurrencyPolicy = "plain" | "secondBest";

/** A number in [0, 1), each time another. */
export type Dice = () => number;

/** What was seen of the shards, by their numbers: the keys of the first few, best first. */
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

/** The shard to add to, out of those that can be reached. */
export function shardToAddTo(shards: readonly number[], dice: Dice): number {
  return shards[Math.floor(dice() * shards.length)]!;
}

/** So many different shards to peek at, every choice as likely as any other; all of them if there are no more. */
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
