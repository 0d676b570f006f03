/**
 * Spreads work over turns of the event loop. Thousands of connections, requests or errors that come in one instant would
 * otherwise be handled in one turn, in which nobody else is served. Only a limited number is handled in each turn. The rest
 * waits in one queue for each asker, served in rotation, so that someone with one job has it done in the next turn, however much
 * others ask for.
 */
export class FairTurns {
  readonly #perTurn: number;
  readonly #nextTurn: (work: () => void) => void;
  /** What waits, by who asked for it. */
  readonly #waiting = new Map<unknown, (() => void)[]>();
  #left: number;
  #isScheduled = false;

  /** `nextTurn` calls its argument in the next turn of the event loop. */
  constructor(perTurn: number, nextTurn: (work: () => void) => void = setImmediate) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
    this.#nextTurn = nextTurn;
  }

  /** Does the work, now or in one of the next turns. */
  take(who: unknown, work: () => void): void {
    this.#schedule();
    if (this.#left > 0 && this.#waiting.size === 0) {
      this.#left--;
      work();
      return;
    }
    const queue = this.#waiting.get(who);
    if (queue === undefined) this.#waiting.set(who, [work]);
    else queue.push(work);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#left = this.#perTurn;
    for (const [who, queue] of this.#waiting) {
      if (this.#left === 0) break;
      this.#left--;
      this.#waiting.delete(who);
      const work = queue.shift()!;
      // To the end: the loop comes by again when all others have had one.
      if (queue.length > 0) this.#waiting.set(who, queue);
      work();
    }
    if (this.#waiting.size > 0) this.#schedule();
  };
}
