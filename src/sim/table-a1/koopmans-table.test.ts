import assert from "node:assert/strict";
import { test } from "node:test";
import { CHANGES, KOOPMANS_TABLE, koopmansRowOf, TARGETS, USERS } from "./koopmans-table.ts";

test("each of the 27 configurations is there once", () => {
  assert.equal(KOOPMANS_TABLE.length, 27);
  for (const target of TARGETS)
    for (const users of USERS)
      for (const changed of CHANGES) {
        const found = KOOPMANS_TABLE.filter(
          (row) => row.target === target && row.users === users && row.changed === changed,
        );
        assert.equal(found.length, 1);
        assert.equal(koopmansRowOf({ target, users, changed }), found[0]);
      }
  assert.equal(koopmansRowOf({ target: 20, users: 100_000, changed: 0 }), null);
});

test("the numbers are Koopmans'", () => {
  const rowOf = (target: number | null, users: number, changed: number) => {
    const { tau, timeMs } = koopmansRowOf({ target, users, changed })!;
    return [tau, timeMs];
  };
  assert.deepEqual(rowOf(100, 100, 5), [0.000843, 100_436]);
  assert.deepEqual(rowOf(20, 2_500, 0), [3.01e-5, 137_183]);
  assert.deepEqual(rowOf(null, 2_500, 5), [5.8e-5, 101_596]);
  // Over the whole table as printed, so that no digit goes astray.
  const sum = (of: (row: (typeof KOOPMANS_TABLE)[number]) => number) =>
    KOOPMANS_TABLE.reduce((total, row) => total + of(row), 0);
  assert.equal(Math.round(sum(({ tau }) => tau) * 1e7), 89_132);
  assert.equal(
    sum(({ timeMs }) => timeMs),
    2_839_587,
  );
});

test("more users never meant a larger tau, and more changes never a smaller one", () => {
  for (const row of KOOPMANS_TABLE) {
    const larger = KOOPMANS_TABLE.filter((other) => other.target === row.target && other.users >= row.users);
    for (const other of larger.filter(({ changed }) => changed === row.changed))
      assert.ok(other.tau <= row.tau);
    for (const other of larger.filter(({ users, changed }) => users === row.users && changed > row.changed))
      assert.ok(other.tau >= row.tau && other.timeMs >= row.timeMs);
  }
});
