import assert from "node:assert/strict";
import { test } from "node:test";
import type { Notice } from "../notice.ts";
import { Rate } from "./rate.ts";

const PER_MINUTE = 60;

/** Somebody is told that they are in. */
function entered(n: number, at: number, request: "join" | "enter" = "enter"): Notice {
  const id = `v${n}`;
  const times = { joinedAt: 0, admittedAt: 0, createdAt: 0, expiresAt: 9 };
  const pass = { id, room: "main", lane: 0, node: 0, ...times };
  const who = { visitor: n, id, station: 0, life: 1, aheadShown: null, missedTurns: 0 };
  return {
    ...{ kind: "answered", at, askedAt: at, request, expiresAt: 9, ...who },
    answer: { kind: "entered", pass },
  };
}

const turn = (n: number, at: number): Notice => ({ kind: "turns", at, station: 0, sequences: [n] });

interface Flow {
  readonly from?: number;
  readonly everyMs?: number;
  readonly first?: number;
  /** Every n-th uses their turn, at once. */
  readonly usedOf?: number;
}

/** How many turns, how often, and which are used. */
function turns(count: number, { from = 0, everyMs = 1_000, first = 1, usedOf = 1 }: Flow = {}): Notice[] {
  return Array.from({ length: count }, (_, i) => i).flatMap((i) => {
    const at = from + i * everyMs;
    return i % usedOf === 0 ? [turn(first + i, at), entered(first + i, at)] : [turn(first + i, at)];
  });
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
  assert.match(complaints(turns(300, { everyMs: 500 }))[0]!, /16 got a turn within 10 s, and 15 are/);
  assert.deepEqual(complaints(turns(300, { everyMs: 500 }), null), []);
});

test("over a whole minute nothing is saved up", () => {
  assert.match(complaints(turns(300, { everyMs: 900 }))[0]!, /63 entered within 60 s, and 62 are/);
});

test("a minute is any minute: a burst at its end and one at the beginning of the next are too many", () => {
  const burst = (from: number, first: number) =>
    Array.from({ length: 40 }, (_, i) => entered(first + i, from + 10 * i));
  assert.ok(complaints([...burst(55_000, 1), ...burst(65_000, 41)]).length > 0);
});

test("unused turns are given again, however many; entries keep to the minute", () => {
  assert.deepEqual(complaints(turns(600, { everyMs: 200, usedOf: 5 })), []);
  assert.match(complaints(turns(600, { everyMs: 200, usedOf: 4 }))[0]!, /63 entered within 60 s/);
});

test("a visitor who is told again that they are in counts once, and straight through is a turn as well", () => {
  assert.deepEqual(complaints([...turns(60), ...turns(60, { from: 1 })]), []);
  const through = (n: number) => entered(n, 700 + n, "join");
  assert.deepEqual(complaints([...turns(13, { everyMs: 10 }), through(91), through(92)]), []);
  assert.equal(complaints([...turns(13, { everyMs: 10 }), through(91), through(92), through(93)]).length, 1);
});

test("what a root admitted as it died may be forgotten, and everything when all nodes died", () => {
  const burst = (count: number, from = 100) => turns(count, { from, everyMs: 10 });
  assert.equal(complaints(burst(16)).length, 1);
  assert.deepEqual(complaints([stopped(50), ...burst(17)]), []);
  assert.equal(complaints([stopped(50), ...burst(18)]).length, 1);
  assert.equal(complaints([stopped(50), ...burst(16, 70_000)]).length, 1);
  assert.deepEqual(complaints([stopped(50, true), ...burst(27)]), []);
});
