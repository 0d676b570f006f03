/**
 * What a missed turn costs: the place comes back further behind, each time by more, and after `missedTurnsMax` of them
 * it is forfeited. Otherwise a handful of tickets that check in and never enter would have every turn, for ever.
 *
 * The first time a place goes behind as many as got a turn in its lane while its own was out: they went past anyway. The
 * second time behind twice as many, the third behind four times as many. The line is counted from where the place stood,
 * so nobody gains by missing a turn; where fewer wait, it goes to the end.
 *
 * Sequences are whole numbers given out one after the other, so there is no free one in the middle of a line. A place
 * that goes back gets a number between two of them: the k-th to go behind a whole number gets k sixteenths on top. Sums
 * of this kind are exact in a double, for sequences up to 2042, and they order, travel and compare like any other.
 * When the fifteen numbers of a gap are used up the next gap is taken.
 */

const STEPS = 16;
const GAP_MAX = STEPS - 1;

/** Nobody goes back by more than this. */
const BACK_MAX = 1_000_000_000;

/** A line as far as going back in it needs it. */
export interface LineBehind {
  readonly size: number;
  /** Living sequences before this one. */
  ahead(sequence: number): number;
  /** The living sequence with exactly `rank` before it. */
  at(rank: number): number;
}

/** How many a place goes behind. `letIn`: turns given in its lane during its own; `missed`: its missed turns with this one. */
export function placesBack(letIn: number, missed: number): number {
  return Math.min(BACK_MAX, Math.max(1, letIn) * 2 ** (missed - 1));
}

/** True for a place that has missed too many turns to have another. */
export function isForfeited(missed: number, missedTurnsMax: number): boolean {
  return missed >= missedTurnsMax;
}

/** A place that has just missed a turn, and the lane in which it goes back. */
export interface MissedTurn {
  readonly sequence: number;
  /** With this one. */
  readonly missedTurns: number;
  /** Turns given in the lane during its own. */
  readonly letIn: number;
  readonly line: LineBehind;
}

/** The sequence that it goes behind; null: it has missed too many. */
export function goesBehind(
  { sequence, missedTurns, letIn, line }: MissedTurn,
  missedTurnsMax: number,
): number | null {
  if (isForfeited(missedTurns, missedTurnsMax)) return null;
  return sequenceToFollow(line, sequence, placesBack(letIn, missedTurns));
}

/** The sequence that a place goes behind: of the `back`-th one living after it, or of the last. */
export function sequenceToFollow(line: LineBehind, own: number, back: number): number {
  if (line.size === 0) return own;
  const rank = Math.min(line.ahead(own) + back, line.size) - 1;
  return rank < 0 ? own : Math.max(own, line.at(rank));
}

/**
 * Numbers between whole ones. For each gap it counts how many were given in it, up to fifteen; a count beyond that says
 * how many gaps further on there may be a free one.
 */
export class Gaps {
  readonly #used = new Map<number, number>();

  /** A new number after `sequence`, and after all that were given behind the same whole number. */
  next(sequence: number): number {
    const start = Math.floor(sequence);
    let gap = start;
    let used = this.#used.get(gap) ?? 0;
    while (used >= GAP_MAX) {
      gap += Math.max(1, used - GAP_MAX);
      used = this.#used.get(gap) ?? 0;
    }
    if (gap > start) this.#used.set(start, GAP_MAX + gap - start);
    this.#used.set(gap, used + 1);
    return gap + (used + 1) / STEPS;
  }

  /** None of the numbers is anybody's any more. */
  clear(): void {
    this.#used.clear();
  }

  /** This number was given before: by an earlier life of the room. */
  note(sequence: number): void {
    const gap = Math.floor(sequence);
    const step = Math.round((sequence - gap) * STEPS);
    this.#used.set(gap, Math.min(GAP_MAX, Math.max(this.#used.get(gap) ?? 0, step)));
  }
}
