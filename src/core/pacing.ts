/**
 * When a waiting visitor should check in next. The whole room may cost `pollBudgetPerSecond`, whatever its length:
 * those far back come seldom, in proportion to their wait; someone within reach of the door is never kept longer than
 * a few seconds. Jitter keeps a crowd that came together from coming back together.
 */
import type { WaitRange } from "./board.ts";

const NEAR_MS = 2_000;
/** The longest someone within reach of the door is kept between check-ins. */
export const NEAR_MAX_MS = 5_000;
/** A wait at least this short is "within reach". */
export const REACH_MS = 8_000;
const FAR_MAX_MS = 60_000;
const UNKNOWN_WAIT_MS = 40_000;
/** Check-ins over a visitor's remaining wait: one in each quarter of it. */
const CHECKS_PER_WAIT = 4;
const JITTER = 0.2;
/** Deadlines are kept in tenths of a second. */
const DEADLINE_STEP_MS = 100;

export interface Standing {
  readonly waiting: number;
  readonly waitMs: WaitRange | null;
  readonly pollBudgetPerSecond: number;
  readonly ticketTtlMs: number;
}

/** Milliseconds until this visitor's next check-in. `dice` in [0, 1) is the jitter. */
export function nextCheckIn(standing: Standing, dice: number): number {
  const waitMs = standing.waitMs?.low ?? UNKNOWN_WAIT_MS;
  const byBudgetMs = (standing.waiting / standing.pollBudgetPerSecond) * 1_000;
  const wishedMs = Math.min(Math.max(waitMs / CHECKS_PER_WAIT, NEAR_MS), FAR_MAX_MS);
  // A place must not run out between two check-ins, whatever the budget says.
  const mostMs = waitMs <= REACH_MS ? NEAR_MAX_MS : standing.ticketTtlMs / 2;
  const periodMs = Math.min(Math.max(wishedMs, byBudgetMs), mostMs / (1 + JITTER));
  return Math.round(periodMs * (1 + JITTER * dice));
}

/**
 * The same before an event opens: everyone comes back soon after that, and no sooner than the budget lets them, so that
 * the last of them is seen when they would all have come once.
 */
export function openingCheckIn(standing: Standing, opensInMs: number, dice: number): number {
  const { waiting, pollBudgetPerSecond } = standing;
  const spreadMs = Math.max(NEAR_MS, (waiting / pollBudgetPerSecond) * 1_000);
  return Math.round(
    Math.min(nextCheckIn(standing, dice), Math.max(0, opensInMs) + NEAR_MS + dice * spreadMs),
  );
}

/** The longest that anyone in a room of this size can have been told to stay away. */
export function longestCheckIn(standing: Omit<Standing, "waitMs">): number {
  const { waiting, pollBudgetPerSecond, ticketTtlMs } = standing;
  const byBudgetMs = (waiting / pollBudgetPerSecond) * 1_000;
  return Math.min(Math.max(FAR_MAX_MS, byBudgetMs) * (1 + JITTER), ticketTtlMs / 2);
}

/** Until when a visitor told to come back in `nextCheckInMs` is waited for. */
export function lapseDeadline(seen: { now: number; nextCheckInMs: number; lapseAfterMs: number }): number {
  return wholeTenth(seen.now + seen.nextCheckInMs + seen.lapseAfterMs);
}

/** Rounds a deadline up to the tenth of a second that engines keep. */
export function wholeTenth(at: number): number {
  return Math.ceil(at / DEADLINE_STEP_MS) * DEADLINE_STEP_MS;
}
