import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { aheadInLanes, LaneTurns, laneCostFactor, laneCostMs, laneNumber, laneOf, shareOf } from "./lanes.ts";
import { EVERYBODY, type LanesRules } from "./rules.ts";

const LANES_MAX = 16;
const TURNS = 300;

/** Rules for named lanes 1, 2, 3… with these shares. */
function rulesOf(order: LanesRules["order"], shares: readonly number[], othersShare = 10): LanesRules {
  const named = shares.map((share, i) => ({
    number: i + 1,
    name: `lane ${i + 1}`,
    share,
    isPrivileged: true,
  }));
  return { order, othersShare, named };
}

/** All lanes, foremost first. */
function lanesOf(rules: LanesRules): number[] {
  return [...rules.named.map(({ number }) => number), EVERYBODY];
}

/** Shares of up to 15 named lanes that leave everybody's at least one; some even, some with one very big. */
const shares = fc
  .array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 99 })), {
    minLength: 1,
    maxLength: LANES_MAX - 1,
    size: "max",
  })
  .map((wanted) => {
    let left = 99 - wanted.length;
    return wanted.map((share) => {
      const more = Math.min(left, share - 1);
      left -= more;
      return 1 + more;
    });
  });
const othersShare = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 100 }));
const weighted = shares.map((list) => rulesOf("weighted", list));
const strict = fc.tuple(shares, othersShare).map(([list, others]) => rulesOf("strict", list, others));
const anyRules = fc.oneof(weighted, strict);

/** For each turn, the lanes in which people wait, as bits. Long runs and single flickers are both likely. */
const crowds = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 2 ** LANES_MAX - 1 }), fc.integer({ min: 1, max: 30 })), {
    maxLength: 60,
    size: "max",
  })
  .map((runs) => runs.flatMap(([bits, length]) => Array<number>(length).fill(bits)).slice(0, TURNS));

const isIn = (bits: number) => (lane: number) => (bits & (1 << lane)) !== 0;
const everywhere = () => true;

/** Gives every turn to the end; the lanes in order of admission. */
function admitAll(rules: LanesRules, waiting: ReadonlyMap<number, number>): number[] {
  const turns = new LaneTurns();
  const left = new Map(waiting);
  const order: number[] = [];
  for (;;) {
    const lane = turns.next(rules, (candidate) => (left.get(candidate) ?? 0) > 0);
    if (lane === null) return order;
    left.set(lane, left.get(lane)! - 1);
    order.push(lane);
  }
}

/** How many wait in each lane of the rules: often few, sometimes none. */
function waitingIn(rules: LanesRules): fc.Arbitrary<Map<number, number>> {
  const lanes = lanesOf(rules);
  const count = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 60 }));
  return fc
    .array(count, { minLength: lanes.length, maxLength: lanes.length, size: "max" })
    .map((counts) => new Map(lanes.map((lane, i) => [lane, counts[i]!])));
}

test("a turn goes to a lane in which people wait, and to none only when nobody waits", () => {
  fc.assert(
    fc.property(anyRules, crowds, (rules, bitsByTurn) => {
      const turns = new LaneTurns();
      for (const bits of bitsByTurn) {
        const lane = turns.next(rules, isIn(bits));
        if (lane === null) assert.ok(!lanesOf(rules).some(isIn(bits)));
        else assert.ok(isIn(bits)(lane));
      }
    }),
  );
});

test("weighted: while the same lanes wait, each is at every moment within one turn of its part", () => {
  fc.assert(
    fc.property(weighted, fc.integer({ min: 1, max: 2 ** LANES_MAX - 1 }), (rules, bits) => {
      const waiting = lanesOf(rules).filter(isIn(bits));
      const whole = waiting.reduce((sum, lane) => sum + shareOf(rules, lane), 0);
      const turns = new LaneTurns();
      const got = new Map(waiting.map((lane) => [lane, 0]));
      for (let k = 1; k <= TURNS && waiting.length > 0; k++) {
        const lane = turns.next(rules, isIn(bits))!;
        got.set(lane, got.get(lane)! + 1);
        for (const [each, count] of got) {
          const part = (k * shareOf(rules, each)) / whole;
          assert.ok(Math.abs(count - part) < 1, `lane ${each} got ${count} of ${k}, due ${part}`);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test("weighted: however others come and go, a lane is served within 200 / share admissions", () => {
  fc.assert(
    fc.property(weighted, crowds, fc.nat({ max: LANES_MAX - 1 }), (rules, bitsByTurn, index) => {
      const lanes = lanesOf(rules);
      const patient = lanes[index % lanes.length]!;
      const turns = new LaneTurns();
      let since = 0;
      for (const bits of bitsByTurn) {
        since = turns.next(rules, isIn(bits | (1 << patient))) === patient ? 0 : since + 1;
        assert.ok(since < 200 / shareOf(rules, patient), `${since} turns without lane ${patient}`);
      }
    }),
    { numRuns: 500 },
  );
});

test("weighted: so it is while all other lanes empty after each turn of theirs", () => {
  fc.assert(
    fc.property(weighted, fc.nat({ max: LANES_MAX - 1 }), (rules, index) => {
      const lanes = lanesOf(rules);
      const patient = lanes[index % lanes.length]!;
      const turns = new LaneTurns();
      let last: number | null = null;
      let since = 0;
      for (let turn = 0; turn < TURNS; turn++) {
        const before = last;
        last = turns.next(rules, (lane) => lane === patient || lane !== before);
        since = last === patient ? 0 : since + 1;
        assert.ok(since < 200 / shareOf(rules, patient));
      }
    }),
  );
});

test("weighted: coming in drops gains nothing: never more than the share, and one turn", () => {
  fc.assert(
    fc.property(weighted, crowds, fc.nat({ max: LANES_MAX - 1 }), (rules, bitsByTurn, index) => {
      const lanes = lanesOf(rules);
      const sparse = lanes[index % lanes.length]!;
      const turns = new LaneTurns();
      let got = 0;
      for (const [turn, bits] of bitsByTurn.entries()) {
        if (turns.next(rules, (lane) => lane !== sparse || isIn(bits)(sparse)) === sparse) got++;
        assert.ok(got < ((turn + 1) * shareOf(rules, sparse)) / 100 + 1, `${got} of ${turn + 1}`);
      }
    }),
    { numRuns: 300 },
  );
});

test("weighted: empty lanes save nothing up, and a lane that was alone owes nothing", () => {
  fc.assert(
    fc.property(
      weighted,
      fc.nat({ max: LANES_MAX - 1 }),
      fc.integer({ min: 1, max: 500 }),
      (rules, index, aloneFor) => {
        const lanes = lanesOf(rules);
        const alone = lanes[index % lanes.length]!;
        const turns = new LaneTurns();
        for (let i = 0; i < aloneFor; i++)
          assert.equal(
            turns.next(rules, (lane) => lane === alone),
            alone,
          );
        const got = new Map(lanes.map((lane) => [lane, 0]));
        for (let k = 1; k <= 200; k++) {
          const lane = turns.next(rules, everywhere)!;
          got.set(lane, got.get(lane)! + 1);
          for (const [each, count] of got) assert.ok(Math.abs(count - (k * shareOf(rules, each)) / 100) < 1);
        }
      },
    ),
  );
});

test("weighted: after any past, lanes get their parts within as many turns as there are lanes", () => {
  fc.assert(
    fc.property(weighted, crowds, fc.integer({ min: 1, max: 2 ** LANES_MAX - 1 }), (rules, past, bits) => {
      const turns = new LaneTurns();
      for (const before of past) turns.next(rules, isIn(before));
      const waiting = lanesOf(rules).filter(isIn(bits));
      const whole = waiting.reduce((sum, lane) => sum + shareOf(rules, lane), 0);
      const got = new Map(waiting.map((lane) => [lane, 0]));
      for (let k = 1; k <= TURNS && waiting.length > 0; k++) {
        const lane = turns.next(rules, isIn(bits))!;
        got.set(lane, got.get(lane)! + 1);
        for (const [each, count] of got)
          assert.ok(Math.abs(count - (k * shareOf(rules, each)) / whole) < lanesOf(rules).length);
      }
    }),
  );
});

test("strict: with nothing left to others, the foremost lane with people is always served", () => {
  fc.assert(
    fc.property(shares, crowds, (list, bitsByTurn) => {
      const rules = rulesOf("strict", list, 0);
      const turns = new LaneTurns();
      for (const bits of bitsByTurn)
        assert.equal(turns.next(rules, isIn(bits)), lanesOf(rules).find(isIn(bits)) ?? null);
    }),
  );
});

test("strict: of any hundred turns of a lane, the others' share goes behind while people wait there", () => {
  fc.assert(
    fc.property(strict, crowds, (rules, bitsByTurn) => {
      const lanes = lanesOf(rules);
      const turns = new LaneTurns();
      /** For each lane the turns that came so far while people waited behind: true where it went behind. */
      const wentBehind = lanes.map((): boolean[] => []);
      for (const bits of bitsByTurn) {
        const chosen = lanes.indexOf(turns.next(rules, isIn(bits)) ?? lanes[0]!);
        for (let i = 0; i <= chosen; i++)
          if (lanes.slice(i + 1).some(isIn(bits))) wentBehind[i]!.push(chosen > i);
      }
      for (const turnsHere of wentBehind) {
        for (let start = 0; start + 100 <= turnsHere.length; start++) {
          const behind = turnsHere.slice(start, start + 100).filter(Boolean).length;
          assert.ok(behind >= rules.othersShare, `${behind} of a hundred`);
        }
      }
    }),
  );
});

test("strict: no more than the others' share goes behind while people wait in the lane itself", () => {
  fc.assert(
    fc.property(strict, (rules) => {
      const turns = new LaneTurns();
      const behind = Array.from({ length: TURNS }, () => turns.next(rules, everywhere) !== 1);
      for (let start = 0; start + 100 <= TURNS; start++)
        assert.equal(behind.slice(start, start + 100).filter(Boolean).length, rules.othersShare);
    }),
  );
});

test("no place waits longer than its lane's factor allows, however crowded the others are", () => {
  const few = fc.array(fc.integer({ min: 1, max: 24 }), { minLength: 1, maxLength: 4, size: "max" });
  const rules = fc
    .tuple(fc.constantFrom("strict" as const, "weighted" as const), few, fc.integer({ min: 15, max: 99 }))
    .map(([order, list, others]) => rulesOf(order, list, others));
  fc.assert(
    fc.property(rules, fc.nat({ max: 4 }), fc.nat({ max: 5 }), (rules, index, ahead) => {
      const lanes = lanesOf(rules);
      const own = lanes[index % lanes.length]!;
      const factor = laneCostFactor(rules, own);
      const turns = new LaneTurns();
      let needed = 0;
      for (let served = 0; served <= ahead; needed++) {
        if (turns.next(rules, everywhere) === own) served++;
        assert.ok(needed <= factor * (ahead + 2), `${needed} turns for ${served} of ${ahead + 1}`);
      }
    }),
  );
});

test("strict: who is ahead is exactly who is admitted before, from the first turn to the last", () => {
  const room = strict.chain((rules) => fc.tuple(fc.constant(rules), waitingIn(rules)));
  fc.assert(
    fc.property(room, ([rules, waiting]) => {
      const served = new Map<number, number>();
      for (const [before, lane] of admitAll(rules, waiting).entries()) {
        const ahead = served.get(lane) ?? 0;
        assert.equal(
          aheadInLanes(rules, (each) => waiting.get(each) ?? 0, { lane, ahead }),
          before,
        );
        served.set(lane, ahead + 1);
      }
    }),
    { numRuns: 300 },
  );
});

test("weighted: who is ahead is told within one round of the lane's own", () => {
  const room = weighted.chain((rules) => fc.tuple(fc.constant(rules), waitingIn(rules)));
  fc.assert(
    fc.property(room, ([rules, waiting]) => {
      const whole = [...waiting].reduce((sum, [lane, n]) => sum + (n > 0 ? shareOf(rules, lane) : 0), 0);
      const served = new Map<number, number>();
      for (const [before, lane] of admitAll(rules, waiting).entries()) {
        const ahead = served.get(lane) ?? 0;
        const told = aheadInLanes(rules, (each) => waiting.get(each) ?? 0, { lane, ahead });
        const round = whole / shareOf(rules, lane);
        assert.ok(Math.abs(told - before) < round, `told ${told}, was ${before}, a round is ${round}`);
        served.set(lane, ahead + 1);
      }
    }),
    { numRuns: 300 },
  );
});

test("a place further on in its lane never has more ahead, and nobody has more ahead than wait", () => {
  const room = anyRules.chain((rules) => fc.tuple(fc.constant(rules), waitingIn(rules)));
  fc.assert(
    fc.property(room, ([rules, waiting]) => {
      const everyone = [...waiting.values()].reduce((sum, n) => sum + n, 0);
      for (const [lane, count] of waiting) {
        let before = -1;
        for (let ahead = 0; ahead < count; ahead++) {
          const told = aheadInLanes(rules, (each) => waiting.get(each) ?? 0, { lane, ahead });
          assert.ok(Number.isInteger(told) && told > before && told >= ahead && told < everyone);
          before = told;
        }
      }
    }),
  );
});

test("where people wait in one lane only, those ahead in it are all who are ahead", () => {
  fc.assert(
    fc.property(anyRules, fc.nat({ max: LANES_MAX - 1 }), fc.nat(), (rules, index, ahead) => {
      const lanes = lanesOf(rules);
      const own = lanes[index % lanes.length]!;
      const told = aheadInLanes(rules, (lane) => (lane === own ? ahead + 1 : 0), { lane: own, ahead });
      assert.equal(told, ahead);
    }),
  );
});

test("a lane the rules do not know counts as everybody's", () => {
  const unknown = LANES_MAX + 1;
  assert.equal(laneOf(rulesOf("strict", [20, 30]), 2), 2);
  assert.equal(laneOf(rulesOf("strict", [20, 30]), unknown), EVERYBODY);
  const room = anyRules.chain((rules) => fc.tuple(fc.constant(rules), waitingIn(rules)));
  fc.assert(
    fc.property(room, fc.nat({ max: 60 }), ([rules, waiting], ahead) => {
      const count = (lane: number) => waiting.get(lane) ?? assert.fail(`there is no lane ${lane}`);
      const told = (lane: number) => [
        aheadInLanes(rules, count, { lane, ahead }),
        laneCostMs(rules, count, { lane, perMs: 1 }),
        laneCostFactor(rules, lane),
      ];
      assert.deepEqual(told(unknown), told(EVERYBODY));
    }),
  );
});

test("everybody's lane has the share that is left, and at least one", () => {
  assert.equal(shareOf(rulesOf("weighted", []), EVERYBODY), 100);
  assert.equal(shareOf(rulesOf("weighted", [20, 30]), EVERYBODY), 50);
  assert.equal(shareOf(rulesOf("weighted", [60, 40]), EVERYBODY), 1);
});

test("turns go on after a restart as if there had been none", () => {
  fc.assert(
    fc.property(anyRules, crowds, fc.nat({ max: TURNS }), (rules, bitsByTurn, restartAt) => {
      const steady = new LaneTurns();
      let restarted = new LaneTurns();
      for (const [turn, bits] of bitsByTurn.entries()) {
        if (turn === restartAt) {
          const memo = JSON.parse(JSON.stringify(restarted.memo()));
          restarted = new LaneTurns();
          restarted.restore(memo);
        }
        assert.equal(restarted.next(rules, isIn(bits)), steady.next(rules, isIn(bits)));
      }
    }),
  );
});

test("new rules hold from the next turn, and the same rules read anew change nothing", () => {
  fc.assert(
    fc.property(anyRules, anyRules, crowds, (before, after, bitsByTurn) => {
      const turns = new LaneTurns();
      const readAnew = new LaneTurns();
      for (const [turn, bits] of bitsByTurn.entries()) {
        const rules = turn < bitsByTurn.length / 2 ? before : after;
        const lane = turns.next(rules, isIn(bits));
        assert.ok(lane === null ? !lanesOf(rules).some(isIn(bits)) : lanesOf(rules).includes(lane));
        assert.equal(readAnew.next(structuredClone(rules), isIn(bits)), lane);
      }
    }),
  );
});

test("a lane costs those behind it the time its people take, and nothing to those before", () => {
  const rules = rulesOf("strict", [20], 0);
  const waiting = (lane: number) => (lane === 1 ? 30 : 50);
  assert.equal(laneCostMs(rules, waiting, { lane: EVERYBODY, perMs: 0.01 }), 3_000);
  assert.equal(laneCostMs(rules, waiting, { lane: 1, perMs: 0.01 }), 0);
  assert.equal(laneCostMs(rules, waiting, { lane: EVERYBODY, perMs: 0 }), null);
});

test("the cost of now stays within the lane's factor, and the foremost lane bears none", () => {
  const room = anyRules.chain((rules) => fc.tuple(fc.constant(rules), waitingIn(rules)));
  fc.assert(
    fc.property(room, ([rules, waiting]) => {
      const count = (lane: number) => waiting.get(lane) ?? 0;
      for (const lane of lanesOf(rules)) {
        const cost = laneCostMs(rules, count, { lane, perMs: 1 })!;
        assert.ok(cost >= 0 && cost <= laneCostFactor(rules, lane) * (count(lane) + 2));
        if (lane === lanesOf(rules)[0]) assert.equal(cost, 0);
      }
    }),
  );
});

test("a lane's factor is one over its least part of all turns", () => {
  assert.equal(laneCostFactor(rulesOf("weighted", [20, 30]), 1), 5);
  assert.equal(laneCostFactor(rulesOf("weighted", [20, 30]), EVERYBODY), 2);
  assert.equal(laneCostFactor(rulesOf("strict", [20, 30], 20), 1), 1.25);
  assert.equal(laneCostFactor(rulesOf("strict", [20, 30], 20), EVERYBODY), 25);
  assert.equal(laneCostFactor(rulesOf("strict", [20, 30], 0), 1), 1);
  assert.equal(laneCostFactor(rulesOf("strict", [20, 30], 0), EVERYBODY), Number.POSITIVE_INFINITY);
});

test("a lane's number comes from its name alone and is never everybody's", () => {
  // The hashes of "", "a" and "foobar" as the authors of FNV-1a publish them.
  assert.equal(laneNumber(""), (0x811c9dc5 % 65_535) + 1);
  assert.equal(laneNumber("a"), (0xe40c292c % 65_535) + 1);
  assert.equal(laneNumber("foobar"), (0xbf9cf968 % 65_535) + 1);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (name) => {
      const number = laneNumber(name);
      assert.ok(Number.isInteger(number) && number >= 1 && number <= 65_535);
      assert.equal(laneNumber(name), number);
    }),
  );
  const names = Array.from({ length: 1_000 }, (_, i) => `lane ${i}`);
  assert.ok(new Set(names.map(laneNumber)).size > 980, "a thousand names spread over all numbers");
});
