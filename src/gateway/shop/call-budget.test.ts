import assert from "node:assert/strict";
import { test } from "node:test";
import { CallBudget } from "./call-budget.ts";

const LIMITS = { callsPerVisitorMax: 2, callsPerAddressMax: 3 };

test("a visitor has a minute's worth at once, and then as much again evenly", () => {
  const budget = new CallBudget(LIMITS, 0);
  const ask = (now: number) => budget.take({ visitor: "a", address: null }, now);
  assert.deepEqual([ask(0), ask(0), ask(0)], [0, 0, 30_000]);
  assert.deepEqual([ask(29_999), ask(30_000), ask(30_000)], [1, 0, 30_000]);
});

test("an address has its own budget, whatever the visitors", () => {
  const budget = new CallBudget(LIMITS, 0);
  const ask = (visitor: string) => budget.take({ visitor, address: "192.0.2.1" }, 0);
  assert.deepEqual([ask("a"), ask("b"), ask("c"), ask("d")], [0, 0, 0, 20_000]);
  assert.equal(budget.take({ visitor: "d", address: "192.0.2.2" }, 0), 0);
  // A proxy that does not name its visitors is no address.
  assert.equal(budget.take({ visitor: "d", address: null }, 0), 0);
});

test("a call that is refused counts for nobody", () => {
  const budget = new CallBudget(LIMITS, 0);
  for (const visitor of ["a", "b", "c"]) budget.take({ visitor, address: "192.0.2.1" }, 0);
  for (let time = 0; time < 5; time++) assert.ok(budget.take({ visitor: "d", address: "192.0.2.1" }, 0) > 0);
  assert.equal(budget.take({ visitor: "d", address: "192.0.2.2" }, 0), 0);
  assert.equal(budget.take({ visitor: "d", address: "192.0.2.2" }, 0), 0);
});

test("it goes on under the same limits alone", () => {
  const budget = new CallBudget(LIMITS, 0);
  assert.equal(budget.isFor({ ...LIMITS }), true);
  assert.equal(budget.isFor({ ...LIMITS, callsPerAddressMax: 4 }), false);
  assert.equal(budget.isFor({ ...LIMITS, callsPerVisitorMax: 4 }), false);
});
