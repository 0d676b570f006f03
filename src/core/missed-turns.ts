/**
 * What a missed turn costs: the place moves back, each time further, and after `missedTurnsMax` it is forfeited. Otherwise a
 * handful of tickets that check in and never enter would take every turn, for ever.
 *
 * The first time a place moves behind as many visitors as got a turn in its lane during its own; they went past anyway. The
 * second time it moves behind twice as many, the third time four times. The count starts where the place stood, so missing a
 * turn never gains anything; where fewer wait, the place moves to the end.
 *
 * Sequences are consecutive whole numbers, so none is free in the middle of a line. A place that moves back gets a number
 * between two: the k-th to move behind a whole number gets k sixteenths on top. Such sums are exact in a double, for
 * sequences until the year 2042, and compare like any other. When the fifteen numbers of a gap are used up, the next gap is
 * taken.
 */

const STEPS = 16;
const GAP_MAX = STEPS - 1;

/** The furthest that a place moves back. */
const BACK_MAX = 1_000_000_000;

/** What moving back needs to know of a line. */
export interface LineBehind {
  readonly size: number;
  /** Living sequences before this one. */
  ahead(sequence: number): number;
  /** The living sequence with exactly `rank` before it. */
  at(rank: number): number;
}

/** Places to move back. `letIn`: turns given in its lane during its own; `missed`: its missed turns, this one included. */
export function placesBack(letIn: number, missed: number): number {
  return Math.min(BACK_MAX, Math.max(1, letIn) * 2 ** (missed - 1));
}

/** True for a place that has missed too many turns to get another. */
export function isForfeited(missed: number, missedTurnsMax: number): boolean {
  return missed >= missedTurnsMax;
}

/** A place that has just missed a turn, and the line of its lane. */
export interface MissedTurn {
  readonly sequence: number;
  /** This one included. */
  readonly missedTurns: number;
  /** Turns given in the lane during its own. */
  readonly letIn: number;
  readonly line: LineBehind;
}

/** The sequence that it moves behind; null: it is forfeited. */
export function goesBehind(
  { sequence, missedTurns, letIn, line }: MissedTurn,
  missedTurnsMax: number,
): number | null {
  if (isForfeited(missedTurns, missedTurnsMax)) return null;
  return sequenceToFollow(line, sequence, placesBack(letIn, missedTurns));
}

/** The sequence that a place moves behind: the `back`-th living one after it, or the last. */
export function sequenceToFollow(line: LineBehind, own: number, back: number): number {
  if (line.size === 0) return own;
  const rank = Math.min(line.ahead(own) + back, line.size) - 1;
  return rank < 0 ? own : Math.max(own, line.at(rank));
}

/**
 * Gives out numbers between whole ones. Counts the numbers given in each gap, up to fifteen; a count beyond that says how many
 * gaps further on there may be a free one.
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

  /** Forgets all numbers, once no place has one. */
  clear(): void {
    this.#used.clear();
  }

  /** Records a number that was given before a restart. */
  note(sequence: number): void {
    const gap = Math.floor(sequence);
    const step = Math.round((sequence - gap) * STEPS);
    this.#used.set(gap, Math.min(GAP_MAX, Math.max(this.#used.get(gap) ?? 0, step)));
  }
}
