/**
 * How long a turn is firm. A visitor whose turn has come may enter until the claim window ends. For its first seconds a slot
 * and a share of the minute's rate are reserved: the turn is **firm**. After that it is **loose**: still valid, with nothing
 * reserved. The slot goes to the next in line, and the holder enters if there is room when they come. If there is none, they
 * go back to the front of the line, once, and get the next turn; until then they check in every two seconds, so a visitor
 * who comes when told always finds a firm turn. (In random order there is no front: they rejoin those who wait.)
 *
 * Why: a page that is open uses its turn automatically, within seconds. A client that only checks in never does, and would
 * hold a slot for the whole claim window: with nine such clients to each honest visitor, a claim window of two minutes and
 * visits of five, the honest ones would get a fifth of the slots.
 *
 * The time is learned: the more turns go loose, the sooner the next do. If a share s of turns is never used, a turn is firm
 * for `FIRM_MS` × (1 - s), so the visitors who do enter get at least L / (L + FIRM_MS × s) of what they would get alone,
 * where L is how long one of them holds a slot: a visit, or a minute for the rate. With visits of ten seconds or more that
 * is above a half for any s up to 0.9; beyond that `FIRM_LEAST_MS` counts.
 *
 * A place that has missed a turn gets its next one loose, since a reservation for it was wasted once. If its holder comes
 * after all and finds the site full, they go to the front like anyone else, and that turn is firm. So an idle place costs
 * those behind it one firm turn, not `missedTurnsMax` of them.
 *
 * A turn is never firm for longer than a visit lasts by the rules, or than its claim window.
 */

/** Long enough for every visitor near the front to hear of their turn, and for a background tab to enter. */
export const FIRM_MS = 10_000;
/** A door turns within this time, so a shorter one would only add traffic. */
export const FIRM_LEAST_MS = 1_000;
/** After a return to the front: the holder is known to be present and checks in every two seconds. */
export const FIRM_AGAIN_MS = 5_000;
/**
 * The learned share is a mean over about this many turns. Few, because learning of an attack takes as many unused turns, a
 * minute where turns are given one by one; a wrong guess costs little, since a loose turn is still valid.
 */
const SMOOTHED_OVER_TURNS = 6;

/** The rules that bound how long a turn is firm. */
export interface TurnBounds {
  readonly claimWindowMs: number;
  readonly sessionDurationMs: number;
}

/** What is known of a visitor who gets a turn. */
export interface TurnHolder {
  /** They came with a loose turn, found the site full and went back to the front. */
  readonly hasReturned: boolean;
  /** They have missed a turn before. */
  readonly hasMissed: boolean;
}

export class FirmTurns {
  /** Smoothed share of turns that went loose. */
  #looseShare = 0;

  /** How long a turn that is given now is firm; 0: it is loose from the start. */
  firmMs({ claimWindowMs, sessionDurationMs }: TurnBounds, { hasReturned, hasMissed }: TurnHolder): number {
    const mostMs = Math.min(FIRM_MS, claimWindowMs, sessionDurationMs);
    const learnedMs = Math.max(FIRM_LEAST_MS, mostMs * (1 - this.#looseShare));
    if (hasReturned) return Math.min(mostMs, Math.max(FIRM_AGAIN_MS, learnedMs));
    return hasMissed ? 0 : Math.min(mostMs, learnedMs);
  }

  /** A turn was used, firm or loose. */
  used(): void {
    this.#looseShare -= this.#looseShare / SMOOTHED_OVER_TURNS;
  }

  /** A turn went loose. */
  loosened(): void {
    this.#looseShare += (1 - this.#looseShare) / SMOOTHED_OVER_TURNS;
  }

  get looseShare(): number {
    return this.#looseShare;
  }

  /** Restores what was learned; ignores a value outside 0 to 1. */
  restore(looseShare: number): void {
    if (looseShare >= 0 && looseShare <= 1) this.#looseShare = looseShare;
  }
}
