/**
 * Large answers take turns. An origin that answers hundreds of visitors at once has bytes ready on every connection, and
 * one turn of the event loop would read and pass on all of them: a tenth of a second in which nobody else is served. So
 * an answer may pass on a slice, then it pauses and waits at the end of the queue, and each turn of the loop lets only a
 * few of the queue go on. Answers smaller than a slice never wait.
 *
 * Nobody gets less than before: a turn of the loop takes as long as its work, so what the machine can carry is carried,
 * in more and shorter turns.
 */

/** How much of an answer is passed on before others have their turn: some reads of the connection. */
export const SLICE_BYTES = 65_536;
/** How many answers go on in each turn of the event loop. With their slices they take a millisecond or two. */
export const ANSWERS_PER_TURN = 4;

/** An answer that waits for its turn. */
export interface TurnTaker {
  takeTurn(): void;
}

export class Turns {
  readonly #waiting = new Set<TurnTaker>();
  readonly #nextTurn: (work: () => void) => void;
  #isScheduled = false;

  /** `nextTurn` calls its argument in the next turn of the event loop. */
  constructor(nextTurn: (work: () => void) => void = setImmediate) {
    this.#nextTurn = nextTurn;
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
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    this.#nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    let left = Math.min(ANSWERS_PER_TURN, this.#waiting.size);
    for (const taker of this.#waiting) {
      if (left-- === 0) break;
      this.#waiting.delete(taker);
      taker.takeTurn();
    }
    this.#schedule();
  };
}
