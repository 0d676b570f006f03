/**
 * The rules of the door in Lua are those of core: both are asked the same, in Redis and here, thousands of times and in
 * long sequences, and must say the same to the last bit. Here: how many are let in. `place-rules.test.ts` has the rest.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { Adaptive } from "../../core/adaptive.ts";
import { freeInBudget } from "../../core/budget.ts";
import {
  type AtTheDoor,
  door,
  isDoorOpen,
  isRoomForOne,
  isSlotFree,
  mayUseTurn,
  rateOfTurns,
  whyNoPlace,
} from "../../core/door.ts";
import { FirmTurns } from "../../core/firm-turns.ts";
import { Flow } from "../../core/flow.ts";
import { Line } from "../../core/line.ts";
import { Gaps, isForfeited, placesBack, sequenceToFollow } from "../../core/missed-turns.ts";
import { NoShows, turnsToGive } from "../../core/no-shows.ts";
import {
  ages,
  budgets,
  changing,
  crowds,
  doorRules,
  NOW,
  noShowsMemos,
  passedMs,
  people,
  ratePerMinute,
  share,
  stepsOf,
} from "../../testing/redis/drawn-rules.ts";
import { Case, LuaRules, type Value } from "../../testing/redis/lua-rules.ts";

const MINUTE_MS = 60_000;

const lua = await LuaRules.start();
after(() => lua.stop());

lua.sameAsCore(
  "flow: the same allowance after any history of admissions, at rates that change",
  "long",
  stepsOf(
    fc.record({
      passed: passedMs,
      perMinute: fc.option(ratePerMinute, { freq: 8 }),
      firm: fc.nat(10),
      noShows: fc.oneof(
        fc.constant(0),
        share.map((part) => part / 2),
      ),
      isWholeAllowance: fc.boolean(),
      count: fc.nat(8),
      entering: fc.nat(4),
      back: fc.nat(4),
    }),
  ),
  (steps) => {
    const flow = new Flow();
    const one = new Case();
    let now = NOW;
    for (const { passed, perMinute, firm, noShows, isWholeAllowance, count, entering, back } of steps) {
      now += passed;
      const allowance = flow.allowance(perMinute, now, { firm, noShows });
      one.same("flow.allowance", { perMinute, now, firm, noShows }, allowance);
      const given = isWholeAllowance && Number.isFinite(allowance) ? allowance : count;
      flow.giveTurns(perMinute, given, now);
      one.same("flow.give_turns", { perMinute, count: given, now });
      flow.enter(entering, now);
      one.same("flow.enter", { count: entering, now });
      if (back > 0) {
        flow.giveTurnsBack(back, now);
        one.same("flow.give_turns_back", { count: back, now });
      }
      one.same("flow.entries_left", { perMinute, now }, flow.entriesLeft(perMinute, now));
    }
    const known = flow.bySecond(now);
    one.judged("flow.queue", {}, ([lastMinute, ...entries]) => {
      assert.equal(lastMinute, sumOf(entries));
      assert.deepEqual(bySecond(entries, now), known);
    });
    return one;
  },
);

/** `entries` are instants and counts in turn. */
function sumOf(entries: readonly Value[]): number {
  return entries.reduce<number>((sum, entry, i) => (i % 2 === 1 ? sum + Number(entry) : sum), 0);
}

/** As `Flow` tells them. What is over is forgotten at the next question only, and there may have been none. */
function bySecond(entries: readonly Value[], now: number): Map<number, number> {
  const seconds = new Map<number, number>();
  let isOver = true;
  for (let i = 0; i < entries.length; i += 2) {
    const [at, count] = [Number(entries[i]), Number(entries[i + 1])];
    // Oldest first: where a clock was set back, an older one behind a newer stays as long as that.
    isOver &&= at <= now - MINUTE_MS;
    const end = Math.ceil(at / 1_000) * 1_000;
    if (!isOver) seconds.set(end, (seconds.get(end) ?? 0) + count);
  }
  return seconds;
}

lua.sameAsCore(
  "no-shows: the same is learned of turns used and missed, and expected of those that are out",
  "long",
  fc.record({
    memo: noShowsMemos,
    steps: stepsOf(
      fc.record({
        age: fc.option(ages, { freq: 2 }),
        times: fc.integer({ min: 1, max: 40 }),
        out: fc.array(ages, { maxLength: 20, size: "max" }),
      }),
    ),
  }),
  ({ memo, steps }) => {
    const noShows = new NoShows();
    const one = new Case();
    const learned = () => [...noShows.memo().usedAt, noShows.memo().missed];
    one.same("no_shows.fresh", {}, ...learned());
    noShows.restore(memo);
    one.same("no_shows.restore", noShows.memo());
    for (const { age, times, out } of steps) {
      one.same("no_shows.share", {}, noShows.share);
      one.same("no_shows.expected", { ages: out }, noShows.expected(out));
      for (let i = 0; i < times; i++) {
        if (age === null) noShows.missed();
        else noShows.used(age);
      }
      one.same(age === null ? "no_shows.missed" : "no_shows.used", { age, times });
    }
    one.same("no_shows.memo", {}, ...learned());
    return one;
  },
);

lua.sameAsCore(
  "firm turns: the same is learned of turns used and loosened, and they are firm for as long",
  "short",
  fc.array(
    fc.record({
      isUsed: fc.boolean(),
      hasReturned: fc.boolean(),
      hasMissed: fc.boolean(),
      claimWindowMs: fc.integer({ min: 1_000, max: 120_000 }),
      sessionDurationMs: fc.integer({ min: 1_000, max: 120_000 }),
    }),
    { maxLength: 60, size: "max" },
  ),
  (turns) => {
    const firm = new FirmTurns();
    const one = new Case(...turns);
    for (const [i, { isUsed, hasReturned, hasMissed, ...bounds }] of turns.entries()) {
      if (isUsed) firm.used();
      else firm.loosened();
      one.same(isUsed ? "firm_turns.used" : "firm_turns.loosened", {}, firm.looseShare);
      const holder = { hasReturned, hasMissed };
      one.same("firm_turns.firm_ms", { rules: i + 1, ...holder }, firm.firmMs(bounds, holder));
    }
    return one;
  },
);

lua.sameAsCore(
  "missed turns: a place goes as far back, and gets the same number there",
  "short",
  fc.record({
    living: fc.uniqueArray(fc.nat(60), { maxLength: 30 }),
    missing: fc.array(
      fc.record({
        own: fc.nat(60),
        letIn: fc.integer({ min: -3, max: 40 }),
        missed: fc.integer({ min: 1, max: 4 }),
      }),
      { minLength: 1, maxLength: 60, size: "max" },
    ),
    most: fc.integer({ min: 1, max: 5 }),
  }),
  ({ living, missing, most }) => {
    const line = new Line();
    for (const sequence of living) line.add(sequence);
    const gaps = new Gaps();
    const one = new Case();
    const sorted = [...living].sort((a, b) => a - b);
    for (const { own, letIn, missed } of missing) {
      const back = placesBack(letIn, missed);
      one.same("missed_turns.places_back", { letIn, missed }, back);
      one.same("missed_turns.is_forfeited", { missed, most }, isForfeited(missed, most));
      const follow = sequenceToFollow(line, own, back);
      one.same("missed_turns.to_follow", { living: sorted, ahead: line.ahead(own), own, back }, follow);
      one.same("missed_turns.next_number", { sequence: follow }, gaps.next(follow));
    }
    return one;
  },
);

lua.sameAsCore(
  "no-shows: as many turns are given on top",
  "short",
  fc.record({ capacity: people, onSite: people, out: people, expectedShare: share, share }),
  ({ expectedShare, ...site }) => {
    const expected = site.out * expectedShare;
    const one = new Case();
    const filling = { ...site, on_site: site.onSite, expected };
    one.same("no_shows.turns_to_give", { filling }, turnsToGive({ ...site, expected }));
    return one;
  },
);

lua.sameAsCore(
  "door: as many are let in for the same reason, through any day at the door",
  "long",
  fc.record({
    rules: changing(doorRules),
    steps: stepsOf(fc.record({ at: crowds, passed: passedMs, ruled: fc.nat(2) })),
  }),
  ({ rules, steps }) => {
    const flow = new Flow();
    const one = new Case(...rules);
    let now = NOW;
    for (const { at, passed, ruled } of steps) {
      now += passed;
      const index = ruled % rules.length;
      const inForce = rules[index]!;
      const asked = { rules: index + 1, at: luaAt(at), now };
      one.same("door.is_open", asked, isDoorOpen(inForce, at, flow, now));
      const { admit, reason } = door(inForce, at, flow, now);
      one.same("door.open", asked, admit, reason);
      const perMinute = rateOfTurns(inForce, at.noShows);
      one.same("door.rate_of_turns", { ...asked, share: at.noShows }, perMinute);
      flow.giveTurns(perMinute, admit, now);
      one.same("flow.give_turns", { perMinute, count: admit, now });
      one.same("door.is_room_for_one", asked, isRoomForOne(inForce, at, flow, now));
      one.same("door.is_slot_free", asked, isSlotFree(inForce, at));
      const may = mayUseTurn(inForce, at, flow, now);
      one.same("door.may_use_turn", asked, may);
      if (may) flow.enter(1, now);
      if (may) one.same("flow.enter", { count: 1, now });
      one.same("door.why_no_place", { ...asked, isPrequeue: at.isPrequeue }, whyNoPlace(inForce, at));
    }
    return one;
  },
);

function luaAt(at: AtTheDoor): object {
  return {
    waiting: at.waiting,
    admitted: at.admitted,
    on_site: at.onSite,
    is_prequeue: at.isPrequeue,
    is_active: at.isActive,
    // JSON has no word for endless.
    budget_free: Number.isFinite(at.budgetFree) ? at.budgetFree : null,
    no_shows: at.noShows,
    expected: at.expected,
  };
}

lua.sameAsCore(
  "door: the limits are the same part of those set",
  "short",
  fc.record({
    rules: doorRules,
    part: fc.oneof(
      fc.integer({ min: 1, max: 100 }).map((percent) => percent / 100),
      share.filter((part) => part > 0),
    ),
  }),
  ({ rules, part }) => {
    const adaptive = new Adaptive();
    if (rules.adaptive) adaptive.restore({ share: part, baselineMs: null, sufferedAt: null });
    const { totalActiveUsers, newUsersPerMinute } = adaptive.limits(rules);
    const one = new Case(rules);
    one.same("door.limits", { rules: 1, share: part }, totalActiveUsers, newUsersPerMinute);
    return one;
  },
);

lua.sameAsCore("budget: every room gets the same slots", "short", budgets, (budget) => {
  const { totalActiveUsers: total } = budget;
  const rooms = budget.rooms.map(({ lastTurnAt, ...room }) => ({ ...room, last_turn_at: lastTurnAt }));
  const one = new Case();
  one.same("budget.free", { total, rooms }, ...rooms.map((_, index) => freeInBudget(budget, index)));
  return one;
});

test("no function of these rules was left out", () => {
  assert.deepEqual(
    lua.unasked.filter((name) => !/^(lanes|pace|pacing|visits)\./.test(name)),
    [],
  );
});
