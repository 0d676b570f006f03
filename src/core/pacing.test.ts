import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Pace } from "./eta.ts";
import {
  lapseDeadline,
  longestCheckIn,
  NEAR_MAX_MS,
  nextCheckIn,
  openingCheckIn,
  REACH_MS,
  type WaitStanding,
} from "./pacing.ts";
import { DEFAULT_RULES, type DoorRules } from "./rules.ts";

const RULES = { ...DEFAULT_RULES, newUsersPerMinute: 600 };
/** How many times as fast as told the door may be without anyone missing a turn. */
const FASTER_MAX = 4;
const ROUNDING_MS = 1;

function pacedBy(pace: Pace, rules: DoorRules, ahead: number): Pick<WaitStanding, "waitMs" | "reachMs"> {
  const low = pace.waitLow(rules, ahead);
  return { waitMs: low === null ? null : { low }, reachMs: pace.reach(rules, ahead) };
}

/** Someone with `ahead` before them in a line of `waiting`, where nothing was measured yet. */
function standingAt(rules: DoorRules, ahead: number, waiting: number): WaitStanding {
  return { ...rules, waiting, ...pacedBy(new Pace(), rules, ahead) };
}

const rooms = fc.record({
  newUsersPerMinute: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
  totalActiveUsers: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
  sessionDurationMs: fc.integer({ min: 1_000, max: 86_400_000 }),
  claimWindowMs: fc.oneof(
    fc.integer({ min: 1_000, max: 120_000 }),
    fc.integer({ min: 1_000, max: 86_400_000 }),
  ),
  pollBudgetPerSecond: fc.integer({ min: 1, max: 10_000 }),
  paused: fc.boolean(),
});
const lines = fc
  .tuple(
    fc.integer({ min: 1, max: 10_000_000 }),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  )
  .map(([waiting, share]) => ({ waiting, ahead: Math.floor(waiting * share ** 4) }));
const dices = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("a visitor who comes when told misses no turn, in a line of any length, at any rate, claim window and budget", () => {
  const speeds = fc.double({ min: 0.01, max: FASTER_MAX, noNaN: true });
  fc.assert(
    fc.property(rooms, lines, dices, speeds, (room, { waiting, ahead }, dice, faster) => {
      const rules = { ...DEFAULT_RULES, ...room };
      const standing = standingAt(rules, ahead, waiting);
      const turnInMs = standing.reachMs / faster;
      const heardMs = nextCheckIn(standing, dice) - turnInMs;
      assert.ok(heardMs <= rules.claimWindowMs / 2 + ROUNDING_MS, `heard ${heardMs} ms after the turn came`);
    }),
  );
});

test("nor does anyone who gathered before an opening", () => {
  const openings = fc.integer({ min: -10_000, max: 86_400_000 });
  fc.assert(
    fc.property(rooms, lines, dices, openings, (room, { waiting, ahead }, dice, opensInMs) => {
      const rules = { ...DEFAULT_RULES, ...room };
      const standing = standingAt(rules, ahead, waiting);
      const turnInMs = Math.max(0, opensInMs) + standing.reachMs / FASTER_MAX;
      const heardMs = openingCheckIn(standing, opensInMs, dice) - turnInMs;
      assert.ok(heardMs <= rules.claimWindowMs / 2 + ROUNDING_MS, `heard ${heardMs} ms after the turn came`);
    }),
  );
});

test("the first of half a million hears of a turn in time, even in a slow room and in a paused one", () => {
  const slow = {
    ...DEFAULT_RULES,
    totalActiveUsers: 1,
    sessionDurationMs: 3_600_000,
    claimWindowMs: 600_000,
  };
  for (const rules of [slow, { ...slow, paused: true }, { ...slow, totalActiveUsers: null }])
    for (const dice of [0, 0.5, 0.999])
      assert.ok(nextCheckIn(standingAt(rules, 0, 500_000), dice) < rules.claimWindowMs);
});

/** Check-ins a second that the whole line costs when everyone comes as told. */
function costOf(rules: DoorRules, waiting: number): number {
  const pace = new Pace();
  let perSecond = 0;
  // Places are taken in groups of about a hundredth of the line before them.
  for (let ahead = 0, next = 0; ahead < waiting; ahead = next) {
    next = Math.min(waiting, ahead + 1 + (ahead >> 7));
    const standing = {
      ...rules,
      waiting,
      ...pacedBy(pace, rules, ahead),
    };
    perSecond += ((next - ahead) * 1_000) / nextCheckIn(standing, 0.5);
  }
  return perSecond;
}

test("hearing of turns in time costs at most a few check-ins for each visitor let in, however long the line", () => {
  for (const newUsersPerMinute of [60, 600, 6_000, 60_000])
    for (const waiting of [10, 10_000, 500_000, 10_000_000]) {
      const rules = { ...DEFAULT_RULES, newUsersPerMinute, ticketTtlMs: 30 * 86_400_000 };
      const endless = { ...rules, claimWindowMs: Number.MAX_SAFE_INTEGER };
      const more = costOf(rules, waiting) - costOf(endless, waiting);
      const perSecond = (FASTER_MAX * newUsersPerMinute) / 60;
      const most = perSecond * Math.log(1 + waiting / (perSecond * (rules.claimWindowMs / 2_000)));
      assert.ok(more <= most, `${waiting} at ${newUsersPerMinute}: ${more} a second more, at most ${most}`);
    }
});

test("far from the door the poll budget holds for a room of any length", () => {
  for (const waiting of [10, 10_000, 1_000_000, 10_000_000]) {
    const low = 1_000_000_000;
    const waitMs = { low, middle: low, high: low };
    const standing = { ...RULES, waiting, waitMs, reachMs: low, ticketTtlMs: 30 * 86_400_000 };
    const everyMs = nextCheckIn(standing, 0);
    assert.ok((waiting / everyMs) * 1_000 <= 2_000.5, `${waiting}: every ${everyMs} ms`);
  }
});

test("someone within reach of the door is never kept more than a few seconds", () => {
  const waitMs = { low: REACH_MS, middle: 2 * REACH_MS, high: 3 * REACH_MS };
  for (const dice of [0, 0.5, 0.999]) {
    const ms = nextCheckIn({ ...RULES, waiting: 10_000_000, waitMs, reachMs: REACH_MS }, dice);
    assert.ok(ms <= NEAR_MAX_MS);
  }
});

test("a place never runs out between two check-ins", () => {
  const waitMs = { low: 600_000, middle: 900_000, high: 1_200_000 };
  const rules = { ...RULES, ticketTtlMs: 60_000 };
  const ms = nextCheckIn({ ...rules, waiting: 10_000_000, waitMs, reachMs: 600_000 }, 0.999);
  assert.ok(ms <= 30_000);
});

test("nobody is told to stay away longer than the longest time there is", () => {
  fc.assert(
    fc.property(rooms, lines, dices, (room, { waiting, ahead }, dice) => {
      const rules = { ...DEFAULT_RULES, ...room };
      const standing = standingAt(rules, ahead, waiting);
      assert.ok(nextCheckIn(standing, dice) <= longestCheckIn(standing) + ROUNDING_MS);
    }),
  );
});

test("a deadline leaves time for the check-in that was asked for", () => {
  const deadline = lapseDeadline({ now: 1_050, nextCheckInMs: 60_000, lapseAfterMs: 1_000 });
  assert.equal(deadline, 62_100);
});
