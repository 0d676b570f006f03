/**
 * For how long visitors were told to stay away, of late. Should Redis lose a room with its line, nobody is let in there for
 * as long, so that those who waited are back before anyone who comes anew.
 */
import type { JoinAnswer, TicketAnswer } from "../../core/engine.ts";

/** What was told longer ago than twice this no longer counts. */
const PERIOD_MS = 60_000;

export class ToldTimes {
  #from = Number.NEGATIVE_INFINITY;
  #longestMs = 0;
  #longestBeforeMs = 0;

  /** Notes an answer, and hands it on. */
  note<Answer extends JoinAnswer | TicketAnswer>(answer: Answer, now: number): Answer {
    if (answer.kind !== "waiting") return answer;
    this.#turnOver(now);
    if (answer.nextCheckInMs > this.#longestMs) this.#longestMs = answer.nextCheckInMs;
    return answer;
  }

  /** 0 when nobody waited. */
  longest(now: number): number {
    this.#turnOver(now);
    return Math.max(this.#longestMs, this.#longestBeforeMs);
  }

  #turnOver(now: number): void {
    if (now - this.#from < PERIOD_MS) return;
    this.#longestBeforeMs = now - this.#from < 2 * PERIOD_MS ? this.#longestMs : 0;
    this.#longestMs = 0;
    this.#from = now;
  }
}
