/**
 * The longest check-in interval that visitors were told lately. If Redis loses a room with its line, the new one admits nobody
 * for that long, so that those who waited are back before newcomers.
 */
import type { Clock } from "../../core/world.ts";

/** What was told longer ago than twice this no longer counts. */
const PERIOD_MS = 60_000;

export class ToldTimes {
  readonly #clock: Clock;
  #from = Number.NEGATIVE_INFINITY;
  #longestMs = 0;
  #longestBeforeMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(nextCheckInMs: number): void {
    this.#turnOver();
    if (nextCheckInMs > this.#longestMs) this.#longestMs = nextCheckInMs;
  }

  /** 0 when nobody waited. */
  longest(): number {
    this.#turnOver();
    return Math.max(this.#longestMs, this.#longestBeforeMs);
  }

  #turnOver(): void {
    const now = this.#clock.now();
    if (now - this.#from < PERIOD_MS) return;
    this.#longestBeforeMs = now - this.#from < 2 * PERIOD_MS ? this.#longestMs : 0;
    this.#longestMs = 0;
    this.#from = now;
  }
}
