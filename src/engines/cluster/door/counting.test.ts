import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  addReports,
  NOTHING,
  type RoomReport,
  type RoomReports,
  splitByLot,
  splitByWeight,
} from "./counting.ts";

const amount = fc.nat({ max: 1_000 });
const lanes = fc
  .uniqueArray(fc.nat({ max: 3 }), { maxLength: 3 })
  .map((numbers) => numbers.map((lane) => [lane, 10 * lane + 5, lane, 2 * lane] as const));
const report: fc.Arbitrary<RoomReport> = fc.record({
  ...{ lanes, turns: amount, visits: amount, kept: amount, offered: amount, owed: amount, leaveBack: amount },
  ...{ arrivals: amount, used: amount },
  news: fc.record({ entered: amount, loosened: amount, left: amount, missed: amount }),
});
const reports: fc.Arbitrary<RoomReports> = fc
  .array(report, { maxLength: 3 })
  .map((list) => list.map((one, i) => [`room${i}`, one] as const));

/** The same whatever the order of rooms and lanes. */
function inOrder(all: RoomReports): unknown {
  return all
    .map(([room, { lanes: list, ...rest }]) => [room, [...list].sort(([a], [b]) => a - b), rest])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

test("reports add up the same along any branches", () => {
  fc.assert(
    fc.property(reports, reports, reports, (a, b, c) => {
      assert.deepEqual(inOrder(addReports(a, addReports(b, c))), inOrder(addReports(addReports(c, a), b)));
      assert.deepEqual(inOrder(addReports(a, [])), inOrder(a));
    }),
  );
});

test("a sum contains the values of its parts", () => {
  const one: RoomReport = { ...NOTHING, lanes: [[0, 5, 2, 3]], turns: 1, kept: 2, offered: -1 };
  const other: RoomReport = {
    ...NOTHING,
    lanes: [
      [0, 1, 0, 1],
      [7, 4],
    ],
    turns: 3,
    visits: 9,
    used: 2,
  };
  const [[room, sum]] = addReports([["r", one]], [["r", other]]) as [[string, RoomReport]];
  assert.equal(room, "r");
  assert.deepEqual(sum, {
    ...NOTHING,
    ...{
      lanes: [
        [0, 6, 2, 4],
        [7, 4],
      ],
      turns: 4,
      visits: 9,
      kept: 2,
      offered: -1,
      used: 2,
    },
  });
});

test("splitting by weight gives everything, and each part about its share", () => {
  const weights = fc.array(fc.nat({ max: 5_000 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.nat({ max: 10_000 }), weights, (total, list) => {
      const sum = list.reduce((all, weight) => all + weight, 0);
      const parts = splitByWeight(total, list);
      assert.equal(
        parts.reduce((all, part) => all + part, 0),
        sum > 0 ? total : 0,
      );
      for (const [i, part] of parts.entries()) {
        assert.ok(Number.isInteger(part) && part >= 0);
        // Each before it may leave half of one to those after it.
        const exact = sum > 0 ? (total * list[i]!) / sum : 0;
        assert.ok(Math.abs(part - exact) <= (i + 1) / 2 + 1e-9, `${part} instead of ${exact}`);
      }
    }),
  );
});

test("as many are picked by lot as asked for, and from no group more than it has", () => {
  const sizes = fc.array(fc.nat({ max: 20 }), { maxLength: 6 });
  const dice = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(fc.nat({ max: 100 }), sizes, dice, (picked, list, thrown) => {
      let at = 0;
      const parts = splitByLot(picked, list, () => thrown[at++ % thrown.length]!);
      const all = list.reduce((sum, size) => sum + size, 0);
      assert.equal(
        parts.reduce((sum, part) => sum + part, 0),
        Math.min(picked, all),
      );
      for (const [i, part] of parts.entries()) assert.ok(part >= 0 && part <= list[i]!);
    }),
  );
});
