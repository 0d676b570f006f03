/**
 * The rest of `rules.test.ts`: whose turn is next, how long it takes, and when to come back. Only waits may differ by a
 * hair (`NEAR`): they go through `exp` and squares, which V8 and the C library that Redis uses round differently.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { Pace } from "../../core/eta.ts";
import { aheadInLanes, LaneTurns, laneOf, shareOf } from "../../core/lanes.ts";
import {
  claimDeadline,
  lapseDeadline,
  nextCheckIn,
  openingCheckIn,
  wholeTenth,
  withTurn,
} from "../../core/pacing.ts";
import { lastPassEnd, PRESENCE_GRACE_MS, resumedUntil } from "../../core/pass.ts";
import { nextTryAt } from "../../core/resumes.ts";
import { DEFAULT_RULES, type DoorRules, EVERYBODY } from "../../core/rules.ts";
import {
  changing,
  doorRules,
  drawnLanesRules,
  fraction,
  LANE_NUMBERS,
  NOW,
  people,
  places,
  someLanes,
  stepsOf,
  turns,
} from "../../testing/redis/drawn-rules.ts";
import { Case, LuaRules, NEAR } from "../../testing/redis/lua-rules.ts";

const lua = await LuaRules.start();
after(() => lua.stop());

lua.sameAsCore(
  "lanes: the same lane is next in two rooms, while people come and go and the rules change",
  "long",
  fc.record({
    rules: changing(drawnLanesRules),
    steps: stepsOf(
      fc.record({
        room: fc.constantFrom(1, 2),
        waiting: someLanes,
        turns: fc.integer({ min: 1, max: 12 }),
        ruled: fc.nat(2),
        isReloaded: fc.boolean(),
      }),
    ),
  }),
  ({ rules, steps }) => {
    const rooms = new Map([1, 2].map((room) => [room, new LaneTurns()]));
    const one = new Case(...rules);
    for (const { room, waiting, turns, ruled, isReloaded } of steps) {
      const lanes = rooms.get(room)!;
      if (isReloaded) {
        lanes.restore(lanes.memo());
        one.same("lanes.reload", { room });
      }
      const index = ruled % rules.length;
      const next = Array.from({ length: turns }, () =>
        lanes.next(rules[index]!, (lane) => waiting.includes(lane)),
      );
      one.same("lanes.next", { room, rules: index + 1, waiting, turns }, ...next);
    }
    for (const [room, lanes] of rooms) {
      const memo = lanes.memo().sort((a, b) => a.lane - b.lane);
      one.same("lanes.memo", { room }, ...memo.flatMap(({ lane, owed, spared }) => [lane, owed, spared]));
    }
    return one;
  },
);

lua.sameAsCore(
  "lanes: the same number ahead, and the same shares",
  "short",
  fc.record({
    rules: drawnLanesRules,
    crowd: fc.tuple(people, ...LANE_NUMBERS.map(() => people)),
    lane: fc.constantFrom(EVERYBODY, ...LANE_NUMBERS, 77),
    ahead: people,
  }),
  ({ rules, crowd, lane, ahead }) => {
    const waiting = new Map([EVERYBODY, ...LANE_NUMBERS].map((number, i) => [number, crowd[i]!]));
    const one = new Case(rules);
    const asked = { rules: 1, lane };
    const before = aheadInLanes(rules, (of) => waiting.get(of) ?? 0, { lane, ahead });
    one.same("lanes.ahead", { ...asked, waiting: [...waiting], ahead }, before);
    one.same("lanes.of", asked, laneOf(rules, lane));
    one.same("lanes.share_of", asked, shareOf(rules, lane));
    return one;
  },
);

lua.sameAsCore(
  "pace: the same speed and the same shortest waits from the same measurements",
  "long",
  fc.record({
    rules: changing(doorRules),
    turns,
    asked: stepsOf(fc.record({ ruled: fc.nat(2), ahead: places })),
  }),
  ({ rules, turns, asked }) => {
    const pace = new Pace();
    const one = new Case(...rules);
    let now = NOW;
    for (const [i, { admitted, isLine, passed }] of turns.entries()) {
      const { ruled, ahead } = asked[i % asked.length]!;
      tellWait(one, pace, rules, { index: ruled % rules.length, ahead });
      now += passed;
      pace.observe({ admitted, isLine, now });
      one.same("pace.observe", { admitted, isLine, now });
      const { admitted: counts, spentMs } = pace.measured();
      one.same("pace.bins", {}, ...counts, ...spentMs);
      one.same("pace.sums", {}, sum(counts), sum(spentMs), counts.length);
    }
    return one;
  },
);

/** The speed of the door, and the shortest waits to reckon with. */
function tellWait(
  one: Case,
  pace: Pace,
  all: readonly DoorRules[],
  { index, ahead }: { readonly index: number; readonly ahead: number },
): void {
  const [rules, asked] = [all[index]!, { rules: index + 1, ahead }];
  one.same("pace.per_ms", asked, pace.perMs(rules));
  one.near("pace.wait_low", asked, pace.waitLow(rules, ahead));
  one.near("pace.reach", asked, pace.reach(rules, ahead));
}

function sum(of: readonly number[]): number {
  return of.reduce((total, one) => total + one, 0);
}

const waits = fraction.map((dice) => dice * 1e7);

lua.sameAsCore(
  "pacing: the same time until the next check-in, and the same deadline",
  "short",
  fc.record({
    waiting: fc.oneof(people, fc.nat(20_000_000)),
    low: fc.option(fc.oneof(fc.constantFrom(8_000, 8_001), fc.nat(300_000), waits)),
    reachMs: fc.oneof(fc.nat(300_000), waits),
    pollBudgetPerSecond: fc.integer({ min: 1, max: 10_000 }),
    ticketTtlMs: fc.integer({ min: 1_000, max: 86_400_000 }),
    claimWindowMs: fc.oneof(fc.constant(1_000), fc.integer({ min: 1_000, max: 86_400_000 })),
    dice: fc.oneof(fc.constantFrom(0, 0.5), fraction),
    opensIn: fc.integer({ min: -10_000, max: 200_000 }),
    lapseAfterMs: fc.nat(600_000),
    isWaitHidden: fc.boolean(),
    now: fc.integer({ min: NOW, max: NOW + 86_400_000 }),
  }),
  ({ low, dice, opensIn, lapseAfterMs, now, ...rest }) => {
    const standing = { ...rest, waitMs: low === null ? null : { low, middle: low, high: low } };
    const { waiting, reachMs, pollBudgetPerSecond, ticketTtlMs, claimWindowMs, isWaitHidden } = rest;
    const asked = {
      ...{ waiting, waitLow: low, reach: reachMs, pollBudget: pollBudgetPerSecond },
      ...{ ticketTtl: ticketTtlMs, claimWindow: claimWindowMs, isWaitHidden, dice },
    };
    const nextCheckInMs = nextCheckIn(standing, dice);
    const one = new Case();
    one.same("pacing.next_check_in", asked, nextCheckInMs);
    one.same("pacing.opening_check_in", { ...asked, opensIn }, openingCheckIn(standing, opensIn, dice));
    const told = { now, nextCheckIn: nextCheckInMs, lapseAfter: lapseAfterMs };
    one.same("pacing.lapse_deadline", told, lapseDeadline({ now, nextCheckInMs, lapseAfterMs }));
    const lapseAt = lapseDeadline({ now: now - opensIn, nextCheckInMs, lapseAfterMs });
    const turn = { now, lapseAt, lapseAfter: lapseAfterMs, claimWindow: claimWindowMs };
    one.same("pacing.claim_deadline", turn, claimDeadline({ now, lapseAt, lapseAfterMs, claimWindowMs }));
    one.same("pacing.whole_tenth", { at: now }, wholeTenth(now));
    one.same("pacing.with_turn", { nextCheckIn: nextCheckInMs }, withTurn(nextCheckInMs));
    return one;
  },
);

lua.sameAsCore(
  "visits: the same ends, and the same time until someone may try to begin one again",
  "short",
  fc.record({
    sessionDurationMs: fc.integer({ min: 1_000, max: 3_600_000 }),
    formGraceMs: fc.nat(600_000),
    disableSessionRenewal: fc.boolean(),
    now: fc.integer({ min: NOW, max: NOW + 86_400_000 }),
    at: fc.integer({ min: NOW - 86_400_000, max: NOW + 86_400_000 }),
    hasBegun: fc.boolean(),
  }),
  ({ now, at, hasBegun, ...rules }) => {
    const one = new Case(rules);
    one.same("visits.held_until", { at }, at + PRESENCE_GRACE_MS);
    one.same("visits.pass_end", { at }, at - PRESENCE_GRACE_MS);
    one.same("visits.last_pass_end", { rules: 1, at, now }, lastPassEnd(at, rules, now));
    const pass = {
      id: "",
      room: "",
      lane: 0,
      joinedAt: at,
      admittedAt: at,
      createdAt: at,
      expiresAt: at,
      node: 0,
    };
    one.same("visits.resumed_until", { rules: 1, at, now }, resumedUntil(pass, { ...rules, now }));
    const next = nextTryAt(hasBegun, { now, formGraceMs: rules.formGraceMs });
    one.same("visits.next_try_at", { rules: 1, hasBegun, now }, next);
    return one;
  },
);

test("no function of these rules was left out", () => {
  assert.deepEqual(
    lua.unasked.filter((name) => /^(lanes|pace|pacing|visits)\./.test(name)),
    [],
  );
});

test("the checks can see: an answer that is off by one is found", async () => {
  const wrong = new Case();
  wrong.same("pacing.whole_tenth", { at: 1_001 }, wholeTenth(1_001) + 1);
  await assert.rejects(lua.judge([wrong]), /Lua says 1100/);
  const farOff = new Case({ ...DEFAULT_RULES, newUsersPerMinute: 60 });
  const low = new Pace().waitLow({ ...DEFAULT_RULES, newUsersPerMinute: 60 }, 9)!;
  farOff.near("pace.wait_low", { rules: 1, ahead: 9 }, low * (1 + 3 * NEAR));
  await assert.rejects(lua.judge([farOff]), /is right/);
});
