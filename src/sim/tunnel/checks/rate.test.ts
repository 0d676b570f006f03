import assert from "node:assert/strict";
import { test } from "node:test";
import type { Notice } from "../notice.ts";
import { Rate } from "./rate.ts";

const PER_MINUTE = 60;

/** So many turns, one every so often, from an instant on. */
function turns(count: number, { from = 0, everyMs = 1_000, first = 1 } = {}): Notice[] {
  return Array.from({ length: count }, (_, i) => ({
    kind: "turns",
    at: from + i * everyMs,
    station: 0,
    sequences: [first + i],
  }));
}

const stopped = (at: number, isLast = false): Notice => ({
  kind: "stopped",
  at,
  station: 0,
  life: 1,
  isLast,
});

function complaints(notices: readonly Notice[], newUsersPerMinute: number | null = PER_MINUTE): string[] {
  const rate = new Rate({ newUsersPerMinute });
  return notices.map((notice) => rate.see(notice)).filter((complaint) => complaint !== null);
}

test("an even flow is good for as long as it lasts, and twice as many are not", () => {
  assert.deepEqual(complaints(turns(300)), []);
  assert.match(complaints(turns(300, { everyMs: 500 }))[0]!, /16 were admitted within 10 s, and 15 are/);
  assert.deepEqual(complaints(turns(300, { everyMs: 500 }), null), []);
});

test("over a whole minute nothing is saved up", () => {
  assert.match(complaints(turns(300, { everyMs: 900 }))[0]!, /63 were admitted within 60 s, and 62 are/);
});

test("a minute is any minute: a burst at its end and one at the beginning of the next are too many", () => {
  const both = [
    ...turns(40, { from: 55_000, everyMs: 10 }),
    ...turns(40, { from: 65_000, everyMs: 10, first: 41 }),
  ];
  assert.ok(complaints(both).length > 0);
});

test("a turn that is told of again is no other, and straight through is a turn as well", () => {
  assert.deepEqual(complaints([...turns(60), ...turns(60, { from: 1 })]), []);
  const times = { joinedAt: 0, admittedAt: 0, createdAt: 0, expiresAt: 9 };
  const pass = { id: "a", room: "main", lane: 0, node: 0, ...times };
  const who = { visitor: 1, id: "a", station: 0, life: 1, aheadShown: null };
  const through = (at: number): Notice => ({
    ...{ kind: "answered", at, askedAt: at, request: "join", expiresAt: 9, ...who },
    answer: { kind: "entered", pass },
  });
  assert.deepEqual(complaints([...turns(13, { everyMs: 10 }), through(700), through(701)]), []);
  assert.equal(
    complaints([...turns(13, { everyMs: 10 }), through(700), through(701), through(702)]).length,
    1,
  );
});

test("what a root let in as it died may be forgotten, and everything when all died", () => {
  const burst = (count: number, from = 100) => turns(count, { from, everyMs: 10 });
  assert.equal(complaints(burst(16)).length, 1);
  assert.deepEqual(complaints([stopped(50), ...burst(17)]), []);
  assert.equal(complaints([stopped(50), ...burst(18)]).length, 1);
  assert.equal(complaints([stopped(50), ...burst(16, 70_000)]).length, 1);
  assert.deepEqual(complaints([stopped(50, true), ...burst(27)]), []);
});
