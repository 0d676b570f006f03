import assert from "node:assert/strict";
import { test } from "node:test";
import { AHEAD_UNKNOWN, NONE_MISSED } from "../../../core/ticket.ts";
import type { Notice } from "../notice.ts";
import { Ahead } from "./ahead.ts";

function waiting(sequence: number, at: number, ahead: number | null, request: "join" | "checkIn"): Notice {
  const id = `v${sequence}`;
  const times = {
    joinedAt: 0,
    issuedAt: 0,
    expiresAt: 1e9,
    aheadShown: AHEAD_UNKNOWN,
    aheadAtJoin: AHEAD_UNKNOWN,
    ...NONE_MISSED,
  };
  const ticket = { id, room: "main", lane: 0, sequence, draw: 0, node: 0, ...times };
  const who = {
    visitor: sequence,
    id,
    station: 0,
    life: 1,
    aheadShown: null,
    missedTurns: 0,
    expiresAt: null,
  };
  const answer = { kind: "waiting", ticket, ahead, waitMs: null, nextCheckInMs: 5_000 } as const;
  return { kind: "answered", at, askedAt: at, request, answer, ...who };
}

/** Somebody comes, and hears of their place. */
function come(sequence: number, at = 0): Notice[] {
  return [waiting(sequence, at, null, "join"), { kind: "told", at, id: `v${sequence}`, isSteady: true }];
}

const TEN = Array.from({ length: 10 }, (_, i) => come(i + 1)).flat();
const shown = (ahead: number | null, at: number, sequence = 10) => waiting(sequence, at, ahead, "checkIn");
const turn = (at: number, ...sequences: number[]): Notice => ({ kind: "turns", at, station: 0, sequences });

function lastWord(notices: readonly Notice[], begin = true): string | null {
  const check = new Ahead({ lapseAfterMs: 5_000 });
  if (begin) check.begin(0);
  for (const notice of notices.slice(0, -1)) assert.equal(check.see(notice), null);
  return check.see(notices.at(-1)!);
}

test("ahead are those who wait with a smaller key, no more and no fewer", () => {
  assert.equal(lastWord([...TEN, shown(9, 2_000)]), null);
  assert.match(lastWord([...TEN, shown(8, 2_000)])!, /shown 8 ahead, and 9 are in the line/);
  assert.ok(lastWord([...TEN, shown(10, 2_000)]));
  assert.equal(lastWord([...TEN, shown(4, 2_000, 5)]), null);
});

test("no number is never wrong, and nobody is judged at once", () => {
  assert.equal(lastWord([...TEN, shown(null, 2_000)]), null);
  assert.equal(lastWord([...TEN, shown(3, 1_400)]), null);
});

test("recent changes may not be known yet, and must be later", () => {
  const called = [...TEN, turn(1_000, 1, 2)];
  assert.equal(lastWord([...called, shown(9, 2_000)]), null);
  assert.equal(lastWord([...called, shown(7, 2_000)]), null);
  assert.ok(lastWord([...called, shown(6, 2_000)]));
  assert.ok(lastWord([...called, shown(8, 2_600)]));
  const leaving: Notice = { kind: "leaving", at: 1_000, id: "v1" };
  assert.ok(lastWord([...TEN, leaving, shown(9, 2_600)]));
  assert.equal(lastWord([...TEN, leaving, shown(8, 2_600)]), null);
});

test("visitors who may have lapsed, or came back, may be counted or not", () => {
  const others = TEN.filter((notice) => "id" in notice && notice.id !== "v10");
  const mine = come(10, 6_000);
  assert.equal(lastWord([...others, ...mine, shown(0, 8_000)]), null);
  assert.equal(lastWord([...others, ...mine, shown(9, 8_000)]), null);
  assert.ok(lastWord([...others, ...mine, shown(9, 12_600)]));
  const back = [...TEN, turn(500, 1), waiting(1, 2_500, 0, "checkIn")];
  for (const ahead of [8, 9]) assert.equal(lastWord([...back, shown(ahead, 2_600)]), null);
});

test("in times of trouble nobody is judged, and afterwards a number that was too low may stay", () => {
  assert.equal(lastWord([...TEN, shown(3, 2_000)], false), null);
  const split = (at: number, isSplit: boolean): Notice => ({ kind: "split", at, isSplit });
  assert.equal(lastWord([...TEN, split(500, true), shown(3, 2_000)]), null);
  const check = new Ahead({ lapseAfterMs: 5_000 });
  for (const notice of TEN) check.see(notice);
  check.begin(1_000);
  assert.equal(check.see(shown(3, 2_000)), null);
  assert.match(check.see(shown(10, 2_200))!, /shown 10 ahead, and from 0 to 9 are/);
});
