/**
 * Large answers take turns. An origin that answers hundreds of visitors at once has bytes ready on every connection, and
 * one turn of the event loop would read and pass on all of them: a tenth of a second in which nobody else is served. So
 * where many large answers are under way, what they pass on in one turn of the loop is counted. Once it is enough, each
 * that comes along pauses and waits at the end of a queue, and every turn of the loop lets a few of the queue go on.
 *
 * A few downloads at once are left alone, since pausing and going on costs more than passing on what was read. Small
 * answers are not counted and never wait.
 */

/** An answer is large once this much of it has been passed on. */
export const LARGE_BYTES = 65_536;
/** As many large answers under way do not have to take turns. */
export const UNTROUBLED_MAX = 16;
/** How much large answers pass on in one turn of the event loop before they have to wait: about a millisecond. */
export const TURN_BYTES = 262_144;
/** How many of those that wait go on in each turn. */
export const ANSWERS_PER_TURN = 2;

/** An answer that waits for its turn. */
export interface TurnTaker {
  takeTurn(): void;
}

export class AnswerTurns {
  readonly #waiting = new Set<TurnTaker>();
  readonly #nextTurn: (work: () => void) => void;
  #isScheduled = false;
  /** Large answers under way. */
  #large = 0;
  /** Bytes that may still be passed on in this turn. */
  #left = TURN_BYTES;

  /** `nextTurn` calls its argument in the next turn of the event loop. */
  constructor(nextTurn: (work: () => void) => void = setImmediate) {
    this.#nextTurn = nextTurn;
  }

  /** An answer has become large. */
  enter(): void {
    this.#large++;
  }

  /** A large answer is over. */
  leave(): void {
    this.#large--;
  }

  /** Counts what a large answer has passed on. False: it has to wait for its turn. */
  spend(bytes: number): boolean {
    if (this.#large <= UNTROUBLED_MAX) return true;
    this.#left -= bytes;
    this.#schedule();
    return this.#left > 0;
  }

  /** Calls `taker.takeTurn` once, when it is its turn. */
  wait(taker: TurnTaker): void {
    this.#waiting.add(taker);
    this.#schedule();
  }

  giveUp(taker: TurnTaker): void {
    this.#waiting.delete(taker);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#left = TURN_BYTES;
    let left = Math.min(ANSWERS_PER_TURN, this.#waiting.size);
    for (const taker of this.#waiting) {
      if (left-- === 0) break;
      this.#waiting.delete(taker);
      taker.takeTurn();
    }
    if (this.#waiting.size > 0) this.#schedule();
  };
}
