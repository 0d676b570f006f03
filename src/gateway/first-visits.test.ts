import assert from "node:assert/strict";
import { test } from "node:test";
import { FirstVisits } from "./first-visits.ts";

test("first visits count for their address until they are over, or their visitor is back", () => {
  const visits = new FirstVisits();
  for (const [id, until] of [
    ["a", 10],
    ["b", 20],
    ["c", 30],
  ] as const)
    visits.add({ id, address: "203.0.113.7", until });
  visits.add({ id: "d", address: "203.0.113.8", until: 30 });
  assert.deepEqual([visits.count("203.0.113.7", 0), visits.count("203.0.113.8", 0)], [3, 1]);
  visits.remove("b");
  visits.remove("b");
  assert.equal(visits.count("203.0.113.7", 9), 2);
  assert.equal(visits.count("203.0.113.7", 10), 1);
  assert.deepEqual([visits.count("203.0.113.7", 30), visits.count("203.0.113.8", 30)], [0, 0]);
  assert.equal(visits.count("203.0.113.9", 30), 0);
});

test("a first visit that is prolonged counts for longer, and delays the end of no other", () => {
  const visits = new FirstVisits();
  for (const id of ["a", "b"]) visits.add({ id, address: "203.0.113.7", until: 10 });
  visits.prolong("a", 25);
  visits.prolong("nobody", 25);
  assert.equal(visits.count("203.0.113.7", 10), 1);
  assert.equal(visits.count("203.0.113.7", 24), 1);
  assert.equal(visits.count("203.0.113.7", 25), 0);
});
