/**
 * What became of a node's turns since the root last heard of it, for the rate and for what the doorkeeper learns. It is reported
 * with every round until one is announced: a round that came to nothing was decided by nobody.
 */
export interface TurnCounts {
  /** Firm turns that were used. */
  readonly entered: number;
  /** Turns that went loose, and firm ones whose holders left. */
  readonly loosened: number;
  readonly left: number;
  /** Turns that were not used in time. */
  readonly missed: number;
}

export const NO_TURNS: TurnCounts = { entered: 0, loosened: 0, left: 0, missed: 0 };

/** `a`, and `b` as often, count by count. */
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

  /** What a round is told. */
  report(): TurnCounts {
    this.#reported = this.#since;
    return this.#since;
  }

  /** The round that was last told is announced. */
  announced(): void {
    this.#since = addCounts(this.#since, this.#reported, -1);
    this.#reported = NO_TURNS;
  }

  /** Everything, which then is nobody else's to hear. */
  take(): TurnCounts {
    const since = this.#since;
    this.#since = NO_TURNS;
    this.#reported = NO_TURNS;
    return since;
  }
}
