/**
 * What became of every visitor of a run, recorded outside the engine: one entry each, in order of arrival. Instants are
 * milliseconds since the start of the run, so that results fit the charts and show no clock.
 */
import type { WaitRange } from "../../core/board.ts";
import type { Pass } from "../../core/pass.ts";

export const NOT_YET = 0;
export const STILL_WAITING = 1;
export const STRAIGHT_THROUGH = 2;
export const AFTER_WAITING = 3;
export const GAVE_UP = 4;
export const NO_SHOW = 5;
export const TURNED_AWAY = 6;
export type VisitorOutcome = 0 | 1 | 2 | 3 | 4 | 5 | 6;

export class Journal {
  readonly size: number;
  readonly #startAt: number;
  readonly outcome: Uint8Array;
  /** When they arrived; for those who got in also when they were admitted and when they entered. */
  readonly joinedMs: Float64Array;
  readonly admittedMs: Float64Array;
  readonly enteredMs: Float64Array;
  /** The wait told on joining; 0 if none was. */
  readonly toldLowMs: Float64Array;
  readonly toldMs: Float64Array;
  readonly toldHighMs: Float64Array;
  /** Reasons of refusals, with counts. */
  readonly reasons = new Map<string, number>();

  constructor(size: number, startAt: number) {
    this.size = size;
    this.#startAt = startAt;
    this.outcome = new Uint8Array(size);
    this.joinedMs = new Float64Array(size);
    this.admittedMs = new Float64Array(size);
    this.enteredMs = new Float64Array(size);
    this.toldLowMs = new Float64Array(size);
    this.toldMs = new Float64Array(size);
    this.toldHighMs = new Float64Array(size);
  }

  came(visitor: number, at: number): void {
    this.joinedMs[visitor] = at - this.#startAt;
  }

  waits(visitor: number, told: WaitRange | null): void {
    this.outcome[visitor] = STILL_WAITING;
    if (told === null) return;
    this.toldLowMs[visitor] = told.low;
    this.toldMs[visitor] = told.middle;
    this.toldHighMs[visitor] = told.high;
  }

  entered(visitor: number, pass: Pass, at: number): void {
    this.outcome[visitor] = this.outcome[visitor] === STILL_WAITING ? AFTER_WAITING : STRAIGHT_THROUGH;
    this.admittedMs[visitor] = pass.admittedAt - this.#startAt;
    this.enteredMs[visitor] = at - this.#startAt;
  }

  gone(visitor: number, outcome: typeof GAVE_UP | typeof NO_SHOW): void {
    this.outcome[visitor] = outcome;
  }

  turnedAway(visitor: number, reason: string): void {
    this.outcome[visitor] = TURNED_AWAY;
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
  }

  waitedMs(visitor: number, now: number): number {
    return now - this.#startAt - this.joinedMs[visitor]!;
  }

  /** How many ended this way. */
  count(outcome: VisitorOutcome): number {
    let count = 0;
    for (const one of this.outcome) count += Number(one === outcome);
    return count;
  }

  /** True for a visitor who is on the site or was. */
  isIn(visitor: number): boolean {
    const outcome = this.outcome[visitor];
    return outcome === STRAIGHT_THROUGH || outcome === AFTER_WAITING;
  }
}
