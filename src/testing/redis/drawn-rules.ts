/** Random rules, crowds and times for tests: of all kinds, and often at a limit. */
import fc from "fast-check";
import type { Budget } from "../../core/budget.ts";
import type { AtTheDoor } from "../../core/door.ts";
import type { NoShowsMemo } from "../../core/no-shows.ts";
import { DEFAULT_RULES, type DoorRules, EVERYBODY, type LanesRules } from "../../core/rules.ts";

/** When every case starts. */
export const NOW = Date.UTC(2026, 5, 1, 10);

const STEPS_MAX = 60;
const ROOMS_MAX = 8;

/** Few, so that limits are met often, or many. */
export const people = fc.oneof(fc.nat(12), fc.nat(1_000), fc.nat(200_000), fc.nat(100_000_000));

/** From 0 to below 1, evenly; `fc.double` draws very small numbers most of the time. */
export const fraction = fc.nat(2 ** 31 - 1).map((dice) => dice / 2 ** 31);

/** A part of a whole, both ends included. */
export const share = fc.oneof(fc.constantFrom(0, 0.005, 0.5, 0.995, 1), fraction);

/** A rate that is set is a whole number; one that makes up for no-shows need not be. */
export const ratePerMinute = fc.oneof(
  fc.integer({ min: 1, max: 100 }),
  fc.integer({ min: 1, max: 100_000 }),
  fraction.map((dice) => 0.5 + dice * 1_000),
);

/** Time between two calls. Clocks may also be set back a little. */
export const passedMs = fc.oneof(
  fc.constantFrom(0, 1, 100, 200, 1_000, 2_000, 59_999, 60_000, 60_001),
  fc.integer({ min: -50, max: 5_000 }),
  fc.nat(100_000),
);

/** A long sequence. */
export function stepsOf<T>(step: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(step, { minLength: 1, maxLength: STEPS_MAX, size: "max" });
}

/** One to three, for rules that change on the way. */
export function changing<T>(rules: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(rules, { minLength: 1, maxLength: 3, size: "max" });
}

const ADAPTIVE = { least: 0.1, latencyFactor: 3, latencyMs: null, errors: 0.05, inFlight: null };

/** What the door looks at; most rooms are not held. */
export const doorRules: fc.Arbitrary<DoorRules> = fc
  .record({
    totalActiveUsers: fc.option(people),
    newUsersPerMinute: fc.option(ratePerMinute),
    queueingMethod: fc.constantFrom("fifo", "fifo", "random", "passthrough", "reject"),
    held: fc.constantFrom("", "", "", "", "", "paused", "queueAll", "closed", "drained"),
    fillNoShows: fc.boolean(),
    sessionDurationMs: fc.integer({ min: 1_000, max: 30 * 86_400_000 }),
    isAdaptive: fc.boolean(),
    isEven: fc.nat(9).map((dice) => dice === 0),
  })
  .map(({ held, isAdaptive, isEven, ...rules }) => ({
    ...DEFAULT_RULES,
    ...rules,
    ...(held && { [held]: true }),
    // The slots then let through just what the rate does.
    ...(isEven && { totalActiveUsers: rules.newUsersPerMinute, sessionDurationMs: 60_000 }),
    adaptive: isAdaptive ? ADAPTIVE : null,
  }));

/** Elapsed parts of a claim window: at the ends of its steps, and beyond it. */
export const ages = fc.oneof(share, fc.constantFrom(-0.1, 0.125, 0.25, 0.875, 1.1));

/** Statistics of turns: often none was ever used as late as this, nor missed. */
export const noShowsMemos: fc.Arbitrary<NoShowsMemo> = fc.record({
  usedAt: fc.array(fc.constantFrom(0, 0, 0.1, 0.2), { minLength: 8, maxLength: 8 }),
  missed: fc.constantFrom(0, 0, 0.1, 0.3),
});

/** Who is at the door. */
export const crowds: fc.Arbitrary<AtTheDoor> = fc
  .record({
    waiting: fc.oneof(fc.constant(0), people),
    admitted: people,
    onSite: people,
    isPrequeue: fc.nat(9).map((dice) => dice === 0),
    isActive: fc.nat(9).map((dice) => dice > 0),
    budgetFree: fc.option(people, { nil: Number.POSITIVE_INFINITY, freq: 2 }),
    noShows: share.map((part) => part / 2),
    expectedShare: share,
  })
  .map(({ expectedShare, ...at }) => ({ ...at, expected: at.admitted * expectedShare }));

/** Rooms that share a budget of about what they use and want, so that the last slots are not enough for all. */
export const budgets: fc.Arbitrary<Budget> = fc.constantFrom(4, 60, 200_000).chain((most) => {
  const slots = fc.nat(most);
  const room = fc.record({ used: slots, wanted: slots, guaranteed: slots, lastTurnAt: fc.nat(4) });
  return fc.record({
    totalActiveUsers: fc.oneof(
      fc.nat(2 * ROOMS_MAX * most),
      fraction.map((dice) => dice * 20),
    ),
    rooms: fc.array(room, { minLength: 1, maxLength: ROOMS_MAX, size: "max" }),
  });
});

/** Numbers that a lane may have; two of them are beyond a signed 16-bit number. */
export const LANE_NUMBERS: readonly number[] = [1, 2, 3, 40_000, 65_535];

/** Beyond what settings allow, too: shares of zero, and shares of more than a hundred together. */
export const drawnLanesRules: fc.Arbitrary<LanesRules> = fc.record({
  order: fc.constantFrom("strict", "weighted"),
  othersShare: fc.integer({ min: 0, max: 99 }),
  named: fc.uniqueArray(
    fc.record({
      number: fc.constantFrom(...LANE_NUMBERS),
      name: fc.constant("some"),
      share: fc.oneof(fc.integer({ min: 0, max: 99 }), fc.constantFrom(0, 1, 20, 50)),
      isPrivileged: fc.boolean(),
    }),
    { selector: ({ number }) => number, maxLength: LANE_NUMBERS.length, size: "max" },
  ),
});

/** Any of the lanes, everybody's among them. */
export const someLanes = fc.subarray([EVERYBODY, ...LANE_NUMBERS]);

/** Admissions, for measurements of their speed. */
export interface DrawnTurn {
  readonly admitted: number;
  readonly isLine: boolean;
  readonly passed: number;
}

const anyTurn: fc.Arbitrary<DrawnTurn> = fc.record({
  admitted: fc.oneof(fc.constant(0), people),
  isLine: fc.boolean(),
  // Around the length of a bin; the last is as long as the rules' promise weighs beside a single bin.
  passed: fc.oneof(fc.constantFrom(0, 200, 1_000, 4_999, 5_000, 13_750), fc.nat(12_000)),
});

function steadyTurns(admitted: fc.Arbitrary<number>): fc.Arbitrary<DrawnTurn[]> {
  return stepsOf(admitted.map((count) => ({ admitted: count, isLine: true, passed: 5_000 })));
}

/** The turns of a day on which anything happens, of one as steady as can be, or of one on which nobody is let in. */
export const turns: fc.Arbitrary<DrawnTurn[]> = fc.oneof(
  stepsOf(anyTurn),
  fc
    .integer({ min: 90, max: 10_000 })
    .chain((few) => steadyTurns(fc.integer({ min: few - 5, max: few + 5 }))),
  fc.constantFrom(0, 1).chain((each) => steadyTurns(fc.constant(each))),
);

/** How many are ahead: near, far, and at both sides of where the steps of the line get wider. */
export const places = fc.oneof(
  fc.nat(300),
  fc.nat(20_000_000),
  fc.nat(28).chain((bits) => fc.integer({ min: Math.max(0, 2 ** bits - 3), max: 2 ** bits + 1 })),
);
