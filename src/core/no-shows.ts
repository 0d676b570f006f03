/**
 * No-shows: turns that are never used. Each holds a slot for the whole claim window, so a site with many of them is never
 * full. Their share is learned, and turns are given on top, so that the visitors *expected* from all outstanding turns fill
 * the free slots.
 *
 * Most turns that are used are used soon. One that is still outstanding late in its claim window will hardly be used, so the
 * expectation is learned by age: of the turns that got this old, how many were used after all. The share alone would not fill
 * the site, since outstanding turns are mostly those that will never be used.
 *
 * If more come than expected, the capacity still holds: the caller refuses them entry for the moment, and they keep their turn.
 *
 * At first every turn is expected to be used until its window ends; it takes some hundreds of turns to learn otherwise.
 */

/** The largest share of turns taken for no-shows, and the largest share of the capacity given on top. */
export const NO_SHOWS_MAX = 0.5;

/** The learned shares are means over about this many turns. */
const SMOOTHED_OVER_TURNS = 200;
/** Ages are told apart in this many steps of the claim window. */
const AGE_STEPS = 8;

export interface NoShowsMemo {
  /** Shares of all turns: used in each step of the claim window, and not at all. */
  readonly usedAt: readonly number[];
  readonly missed: number;
}

export class NoShows {
  /** Together with `#missed` always 1. */
  #usedAt: number[] = Array.from({ length: AGE_STEPS }, (_, step) => (step === AGE_STEPS - 1 ? 1 : 0));
  #missed = 0;

  /** Share of turns that are never used. */
  get share(): number {
    return Math.min(this.#missed, NO_SHOWS_MAX);
  }

  /** A turn was used at this age: the part of its claim window that was over, 0 to 1. */
  used(age: number): void {
    this.#fade();
    this.#usedAt[stepOf(age)]! += 1 / SMOOTHED_OVER_TURNS;
  }

  /** A turn's claim window ended without its holder. */
  missed(): void {
    this.#fade();
    this.#missed += 1 / SMOOTHED_OVER_TURNS;
  }

  /** How many visitors to expect from the outstanding turns of these ages. */
  expected(ages: Iterable<number>): number {
    const chances = this.#chances();
    let total = 0;
    for (const age of ages) total += chances[stepOf(age)]!;
    return total;
  }

  memo(): NoShowsMemo {
    return { usedAt: [...this.#usedAt], missed: this.#missed };
  }

  /** Restores what was learned; ignores a memo of another shape. */
  restore({ usedAt, missed }: NoShowsMemo): void {
    const shares = [...usedAt, missed];
    const total = shares.reduce((sum, share) => sum + share, 0);
    if (usedAt.length !== AGE_STEPS || shares.some((share) => !(share >= 0)) || !(total > 0 && total < 2))
      return;
    this.#usedAt = usedAt.map((share) => share / total);
    this.#missed = missed / total;
  }

  /** For each step of the window: of the turns that reach it, the share that will still be used. */
  #chances(): number[] {
    const chances: number[] = [];
    let later = 0;
    for (let step = AGE_STEPS - 1; step >= 0; step--) {
      later += this.#usedAt[step]!;
      chances[step] = later + this.#missed > 0 ? later / (later + this.#missed) : 1;
    }
    chances[0] = Math.max(chances[0]!, 1 - NO_SHOWS_MAX);
    return chances;
  }

  #fade(): void {
    const kept = 1 - 1 / SMOOTHED_OVER_TURNS;
    for (let step = 0; step < AGE_STEPS; step++) this.#usedAt[step]! *= kept;
    this.#missed *= kept;
  }
}

/** A site and its outstanding turns. */
export interface Filling {
  readonly capacity: number;
  readonly onSite: number;
  /** Turns given and not used yet. */
  readonly out: number;
  /** Visitors expected from them, at most as many. */
  readonly expected: number;
  /** Share of new turns that will never be used. */
  readonly share: number;
}

/** How many more turns to give so that the expected visitors fill the site. Without no-shows: the free slots. */
export function turnsToGive({ capacity, onSite, out, expected, share }: Filling): number {
  const free = capacity - onSite;
  const toFill = Math.floor((free - expected) / (1 - Math.min(share, NO_SHOWS_MAX)) + 1e-6);
  const onTopMax = Math.floor(capacity * NO_SHOWS_MAX);
  return Math.max(0, Math.min(toFill, free + onTopMax - out));
}

function stepOf(age: number): number {
  return age > 0 ? Math.min(AGE_STEPS - 1, Math.floor(age * AGE_STEPS)) : 0;
}
