/**
 * No-shows: turns that nobody uses. Each holds a slot for the whole claim window, and a site with many of them is never
 * full. So their share is learned, and turns are given on top: as many as make the visitors *expected* from all turns
 * out fill the free slots.
 *
 * A turn that was used was mostly used soon. One that is still out late in its claim window will hardly be used any
 * more, so what is expected of it is learned by age: of all turns that got this old, how many were used after all.
 * Looking at the share alone would not fill the site, since the turns out are mostly those that will never be used.
 *
 * More may come than were expected. The site is full all the same and takes nobody beyond its capacity: whoever calls
 * this refuses them entry for the moment and lets them keep their turn.
 *
 * Before anything is learned, every turn is expected to be used until its window ends; it takes some hundreds of turns
 * to believe otherwise.
 */

/** Never more of the turns than this are taken for no-shows, nor are more than this of the capacity given on top. */
export const NO_SHOWS_MAX = 0.5;

/** What is learned is the mean of about so many turns. */
const SMOOTHED_OVER_TURNS = 200;
/** Steps of the claim window by which ages are told apart. */
const AGE_STEPS = 8;

export interface NoShowsMemo {
  /** Shares of all turns: used in each step of the claim window, and not at all. */
  readonly usedAt: readonly number[];
  readonly missed: number;
}

export class NoShows {
  /** These and `#missed` are together always 1. */
  #usedAt: number[] = Array.from({ length: AGE_STEPS }, (_, step) => (step === AGE_STEPS - 1 ? 1 : 0));
  #missed = 0;

  /** Of all turns, the share that nobody uses. */
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

  /** How many visitors are to be expected from the turns out, told by their ages. */
  expected(ages: Iterable<number>): number {
    const chances = this.#chances();
    let total = 0;
    for (const age of ages) total += chances[stepOf(age)]!;
    return total;
  }

  memo(): NoShowsMemo {
    return { usedAt: [...this.#usedAt], missed: this.#missed };
  }

  /** Takes over what was learned; a memo of another shape is left aside. */
  restore({ usedAt, missed }: NoShowsMemo): void {
    const shares = [...usedAt, missed];
    const total = shares.reduce((sum, share) => sum + share, 0);
    if (usedAt.length !== AGE_STEPS || shares.some((share) => !(share >= 0)) || !(total > 0 && total < 2))
      return;
    this.#usedAt = usedAt.map((share) => share / total);
    this.#missed = missed / total;
  }

  /** For each step of the window: of the turns that got there, the share that will yet be used. */
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

/** A site and the turns out to it. */
export interface Filling {
  readonly capacity: number;
  readonly onSite: number;
  /** Turns given and not used yet. */
  readonly out: number;
  /** Visitors expected from them; at most as many. */
  readonly expected: number;
  /** Share of new turns that nobody will use. */
  readonly share: number;
}

/** How many more turns may be given, so that all who are expected fill the site. Without no-shows: the free slots. */
export function turnsToGive({ capacity, onSite, out, expected, share }: Filling): number {
  const free = capacity - onSite;
  const toFill = Math.floor((free - expected) / (1 - Math.min(share, NO_SHOWS_MAX)) + 1e-6);
  const onTopMax = Math.floor(capacity * NO_SHOWS_MAX);
  return Math.max(0, Math.min(toFill, free + onTopMax - out));
}

function stepOf(age: number): number {
  return age > 0 ? Math.min(AGE_STEPS - 1, Math.floor(age * AGE_STEPS)) : 0;
}
