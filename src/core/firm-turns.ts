/**
 * How long a turn is firm. Someone whose turn has come may enter until the claim window ends; for the first seconds of
 * it their slot and their share of the minute are reserved, and the turn is **firm**. After that it is **loose**: still
 * good, but nothing is kept for it. What it held goes to the next in line, and its holder enters if there is room when
 * they come; if there is none, they go back to the front of the line, once, and get the next turn. They are asked to look
 * every two seconds then, so whoever comes when told always finds a firm turn in the end. (In random order there is no
 * front: they are among those who wait, as often as that happens.)
 *
 * Why: a visitor who is there uses a turn within seconds, since their page goes in by itself. One who only checks in
 * never does, and would hold a slot for the whole claim window: with nine such visitors to each honest one, a claim
 * window of two minutes and visits of five, the honest ones would get a fifth of the slots.
 *
 * The time is learned: the more turns go loose, the sooner the next do. With a share s of turns that nobody uses, a turn
 * is firm for `FIRM_MS` × (1 - s), so those who do enter use a share of at least L / (L + FIRM_MS × s) of what they would
 * use alone, where L is what one of them holds a slot for: a visit, or for the rate a minute. With visits of ten seconds
 * or more that is above a half for any s up to 0.9; beyond that `FIRM_LEAST_MS` counts.
 *
 * A place that has missed a turn gets the next one loose. Its holder has shown once that a slot kept for them may be kept
 * in vain; if they are there after all and find the site full, they go to the front like anyone else, and that turn is
 * firm. So each idle place costs those behind it one firm turn, not `missedTurnsMax` of them.
 *
 * A turn is never firm for longer than a visit lasts by the rules, or than its claim window.
 */

/** By then everyone near the door has heard of their turn, and a tab in the background has gone in. */
export const FIRM_MS = 10_000;
/** A door turns within this time, so a shorter one would only add to the traffic. */
export const FIRM_LEAST_MS = 1_000;
/** The second time their holder is known to be there, and was told to come back in two seconds. */
export const FIRM_AGAIN_MS = 5_000;
/**
 * What is learned is the mean of about this many turns. Few, since it takes as many unused ones to learn of an attack, a
 * minute where turns are given one by one; a wrong guess costs little, as a loose turn is still good.
 */
const SMOOTHED_OVER_TURNS = 6;

/** What bounds a turn. */
export interface TurnBounds {
  readonly claimWindowMs: number;
  readonly sessionDurationMs: number;
}

/** Who gets a turn. */
export interface TurnHolder {
  /** They came with a loose turn to a full site and went back to the front. */
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

  /** Takes over what was learned; what is no share is left aside. */
  restore(looseShare: number): void {
    if (looseShare >= 0 && looseShare <= 1) this.#looseShare = looseShare;
  }
}
