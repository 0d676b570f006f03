/**
 * The relaxed priority queue: which sub-line to add to, which to peek at, and which to pop.
 *
 * One long line is cut into sub-lines that know nothing of each other, so that no server is asked about all of them. An
 * item is added to any sub-line. Whoever wants the best item peeks at the first items of a few sub-lines, chosen by
 * dice, and pops where the best of them stood. What comes out is not always the best of all, but one of the first few:
 * how far down it stood, its popped element index, grows with the number of sub-lines, falls quickly with the number of
 * peeks, and does not depend on how many items there are (Lin and Liang 2020, section 4).
 *
 * Between a look and a pop others pop too (section 4.3). With `plain`, whatever has moved up is taken. With
 * `secondBest`, it is only taken if it is no worse than the second best that was seen, else one is taken from where that
 * one stood. Lin and Liang pop, look, and put back; here the pop carries what it must not be worse than and is refused
 * in the same step, so that nothing has to be put back and nobody misses an item that is in two hands for a moment.
 *
 * Everything here is told what was seen and handed its dice; asking the sub-lines is the engines' work.
 */

/** Where an item stands: the lower number first, and where two are equal the lower id. */
export interface RelaxedKey {
  readonly priority: number;
  readonly id: string;
}

export type ConcurrencyPolicy = "plain" | "secondBest";

/** A number in [0, 1), each time another. */
export type Dice = () => number;

/** What was seen of the sub-lines, by their numbers: the keys of the first few, best first. */
export type Sight = ReadonlyMap<number, readonly RelaxedKey[]>;

/** One item to be popped. */
export interface PlannedPop {
  readonly line: number;
  /** If the first of that line is worse than this by then, nothing is popped there. */
  readonly unlessWorseThan: RelaxedKey | null;
  /** The line to pop from in that case, whatever is there. */
  readonly otherwise: number | null;
}

/** Negative when `a` comes before `b`, positive when after, 0 only for the same item. */
export function compareKeys(a: RelaxedKey, b: RelaxedKey): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** The sub-line to add to, out of those that can be reached. */
export function lineToAddTo(lines: readonly number[], dice: Dice): number {
  return lines[Math.floor(dice() * lines.length)]!;
}

/** So many different sub-lines to peek at, every choice as likely as any other; all of them if there are no more. */
export function linesToPeek(lines: readonly number[], count: number, dice: Dice): number[] {
  if (count >= lines.length) return [...lines];
  // Floyd's method: as many throws as lines wanted, however many there are.
  const chosen: number[] = [];
  for (let last = lines.length - count; last < lines.length; last++) {
    const drawn = lines[Math.floor(dice() * (last + 1))]!;
    chosen.push(chosen.includes(drawn) ? lines[last]! : drawn);
  }
  return chosen;
}

/**
 * How many keys of each line must be seen so that a plan for these picks never runs out of keys before the line does:
 * as many as there are picks with that line among them.
 */
export function keysToSee(picks: readonly (readonly number[])[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const line of picks.flat()) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/**
 * Plans one pop for each pick of lines, one after the other, as if each had been carried out before the next: the best
 * of what is left of the lines picked. Null where nothing was left.
 */
export function planPops(
  seen: Sight,
  picks: readonly (readonly number[])[],
  policy: ConcurrencyPolicy,
): (PlannedPop | null)[] {
  const planned = new Map<number, number>();
  const firstOf = (line: number) => seen.get(line)?.[planned.get(line) ?? 0];
  return picks.map((lines) => {
    const [best, second] = bestTwo(lines, firstOf);
    if (!best) return null;
    planned.set(best.line, (planned.get(best.line) ?? 0) + 1);
    const isGuarded = policy === "secondBest" && second !== undefined;
    return {
      line: best.line,
      unlessWorseThan: isGuarded ? second.key : null,
      otherwise: isGuarded ? second.line : null,
    };
  });
}

interface Head {
  readonly line: number;
  readonly key: RelaxedKey;
}

function bestTwo(
  lines: readonly number[],
  firstOf: (line: number) => RelaxedKey | undefined,
): [Head | undefined, Head | undefined] {
  let best: Head | undefined;
  let second: Head | undefined;
  for (const line of lines) {
    const key = firstOf(line);
    if (!key) continue;
    if (!best || compareKeys(key, best.key) < 0) {
      second = best;
      best = { line, key };
    } else if (!second || compareKeys(key, second.key) < 0) second = { line, key };
  }
  return [best, second];
}
