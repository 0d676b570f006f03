/**
 * What became of a node's turns since the root last heard: for the rate, and for what the doorkeeper learns. It is reported with
 * every round until one is announced, since a round without an announcement decided nothing.
 */
export interface TurnCounts {
  /** Firm turns that were used. */
  readonly entered: number;
  /** Turns that became loose, and firm ones whose holders left. */
  readonly loosened: number;
  readonly left: number;
  /** Turns that were not used in time. */
  readonly missed: number;
}

export const NO_TURNS: TurnCounts = { entered: 0, loosened: 0, left: 0, missed: 0 };

/** Adds `times` × `b` to `a`, count by count. */
export function addCounts<Counts extends object>(a: Counts, b: Counts, times = 1): Counts {
  const sum = Object.entries(a).map(([name, count]) => [
    name,
    count + times * (b[name as keyof Counts] as number),
  ]);
  return Object.fromEntries(sum) as Counts;
}

export class TurnNews {
  #since: TurnCounts = NO_TURNS;
  #reported: TurnCounts = NO_TURNS;

  note(what: keyof TurnCounts): void {
    this.#since = { ...this.#since, [what]: this.#since[what] + 1 };
  }

  /** What to report to a round. */
  report(): TurnCounts {
    this.#reported = this.#since;
    return this.#since;
  }

  /** The round last reported to is announced. */
  announced(): void {
    this.#since = addCounts(this.#since, this.#reported, -1);
    this.#reported = NO_TURNS;
  }

  /** Takes everything: no other node needs to hear of it. */
  take(): TurnCounts {
    const since = this.#since;
    this.#since = NO_TURNS;
    this.#reported = NO_TURNS;
    return since;
  }
}
