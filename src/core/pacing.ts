/**
 * When a waiting visitor should check in next. The whole room may cost `pollBudgetPerSecond`, whatever its length:
 * those far back come seldom, in proportion to their wait; someone within reach of the door is never kept longer than
 * a few seconds. Jitter keeps a crowd that came together from coming back together.
 *
 * Nobody should be kept away so long that their turn could come and run out unheard: the next check-in is at most a part
 * of the shortest wait away, plus a part of the claim window (`heardWithin`). Near the front this goes before the budget.
 * Where a turn comes sooner than could be reckoned with, it lasts until its holder was told to come (`claimDeadline`).
 * What it costs is bounded, however long the line. As many as the site has slots can be called at once: these check in
 * twice a claim window. Behind them, with v let in a second, the shortest wait at place a is a / v, and the sum of
 * 1 / (claimWindow / 2 + a / 4v) over a line of L is at most 4v ln(1 + L / (2v claimWindow)): a few check-ins for each
 * visitor let in.
 */
import type { WaitRange } from "./board.ts";

/** Someone who comes with a turn that cannot be used at once looks again this soon. */
const TURN_IN_HAND_MS = 2_000;
const NEAR_MS = 2_000;
/** The longest someone within reach of the door is kept between check-ins. */
export const NEAR_MAX_MS = 5_000;
/** A wait at least this short is "within reach". */
export const REACH_MS = 8_000;
const FAR_MAX_MS = 60_000;
const UNKNOWN_WAIT_MS = 40_000;
/** Check-ins over a visitor's remaining wait: one in each quarter of it. */
const CHECKS_PER_WAIT = 4;
/** A turn is heard of within this share of its claim window; the rest is for the network and for reading the page. */
const HEARD_SHARE = 0.5;
const JITTER = 0.2;
/** Deadlines are kept in tenths of a second. */
const DEADLINE_STEP_MS = 100;

export interface WaitStanding {
  readonly waiting: number;
  readonly waitMs: Pick<WaitRange, "low"> | null;
  /** The shortest wait to reckon with, also while nobody can say how long it will be. */
  readonly reachMs: number;
  readonly pollBudgetPerSecond: number;
  readonly ticketTtlMs: number;
  readonly claimWindowMs: number;
  /** The wait is not to be known: the poll budget alone counts. */
  readonly isWaitHidden?: boolean;
}

/** Where the wait is hidden, the time to the next check-in must not tell it either. */
export const HIDDEN_WAIT = { waitMs: null, reachMs: 0, isWaitHidden: true } as const;

/** Milliseconds until this visitor's next check-in. `dice` in [0, 1) is the jitter. */
export function nextCheckIn(standing: WaitStanding, dice: number): number {
  if (standing.isWaitHidden) return hiddenCheckIn(standing, dice);
  const waitMs = standing.waitMs?.low ?? UNKNOWN_WAIT_MS;
  const byBudgetMs = (standing.waiting / standing.pollBudgetPerSecond) * 1_000;
  const wishedMs = Math.min(Math.max(waitMs / CHECKS_PER_WAIT, NEAR_MS), FAR_MAX_MS);
  // Neither a place nor a turn may run out between two check-ins, whatever the budget says.
  const nearMs = waitMs <= REACH_MS ? NEAR_MAX_MS : standing.ticketTtlMs / 2;
  const mostMs = Math.min(nearMs, heardWithin(standing));
  const periodMs = Math.min(Math.max(wishedMs, byBudgetMs), mostMs / (1 + JITTER));
  return Math.round(periodMs * (1 + JITTER * dice));
}

/** By the poll budget alone, the same for everyone in the line. A turn waits for its holder until they were told to come. */
function hiddenCheckIn({ waiting, pollBudgetPerSecond, ticketTtlMs }: WaitStanding, dice: number): number {
  const byBudgetMs = (waiting / pollBudgetPerSecond) * 1_000;
  const periodMs = Math.min(Math.max(byBudgetMs, NEAR_MAX_MS), ticketTtlMs / 2 / (1 + JITTER));
  return Math.round(periodMs * (1 + JITTER * dice));
}

/**
 * The same before an event opens: everyone comes back soon after that, and no sooner than the budget lets them, so that
 * the last of them is seen when they would all have come once.
 */
export function openingCheckIn(standing: WaitStanding, opensInMs: number, dice: number): number {
  const { waiting, pollBudgetPerSecond } = standing;
  const heardMs = heardWithin(standing);
  const firstMs = Math.min(NEAR_MS, heardMs / 2);
  const spreadMs = Math.min(Math.max(NEAR_MS, (waiting / pollBudgetPerSecond) * 1_000), heardMs - firstMs);
  const soonMs = Math.max(0, opensInMs) + firstMs + dice * spreadMs;
  return Math.round(Math.min(nextCheckIn(standing, dice), soonMs));
}

/** When to come back with a turn that cannot be used at once, or with the next one to come: no later than others. */
export function withTurn(nextCheckInMs: number): number {
  return Math.min(nextCheckInMs, TURN_IN_HAND_MS);
}

/** The longest that someone may stay away without missing a turn, even one that comes four times as soon as told. */
function heardWithin({ claimWindowMs, reachMs }: WaitStanding): number {
  return claimWindowMs * HEARD_SHARE + reachMs / CHECKS_PER_WAIT;
}

/** The longest that anyone in a room of this size can have been told to stay away. */
export function longestCheckIn(
  standing: Pick<WaitStanding, "waiting" | "pollBudgetPerSecond" | "ticketTtlMs">,
): number {
  const { waiting, pollBudgetPerSecond, ticketTtlMs } = standing;
  const byBudgetMs = (waiting / pollBudgetPerSecond) * 1_000;
  return Math.min(Math.max(FAR_MAX_MS, byBudgetMs) * (1 + JITTER), ticketTtlMs / 2);
}

/** Until when a visitor told to come back in `nextCheckInMs` is waited for. */
export function lapseDeadline(seen: { now: number; nextCheckInMs: number; lapseAfterMs: number }): number {
  return wholeTenth(seen.now + seen.nextCheckInMs + seen.lapseAfterMs);
}

/**
 * Until when a turn given now may be used: at least a claim window from now. Its holder may have been told to come back later
 * than that, since nobody can know when others leave; then it is half a claim window from the time they were told. So a visitor
 * who comes back when told never misses a turn.
 */
export function claimDeadline(turn: {
  now: number;
  lapseAt: number;
  lapseAfterMs: number;
  claimWindowMs: number;
}): number {
  const { now, lapseAt, lapseAfterMs, claimWindowMs } = turn;
  const expectedAt = lapseAt - lapseAfterMs;
  return wholeTenth(Math.max(now + claimWindowMs, expectedAt + claimWindowMs * HEARD_SHARE));
}

/** Rounds a deadline up to the tenth of a second that engines keep. */
export function wholeTenth(at: number): number {
  return Math.ceil(at / DEADLINE_STEP_MS) * DEADLINE_STEP_MS;
}
