import assert from "node:assert/strict";
import { test } from "node:test";
import type { Presence } from "../../../core/engine.ts";
import { Touches } from "./touches.ts";

const presence = (id: string, expiresAt: number): Presence => ({
  ...{ id, lane: 0, joinedAt: 0, admittedAt: 0 },
  expiresAt,
});
const NEVER = () => false;
const idsOf = (touches: Touches, now: number, isHeard = NEVER) =>
  touches.due(now, isHeard).map(({ presence: { id } }) => id);

test("presence that the owner has not confirmed is told again each second, up to a limit", () => {
  const touches = new Touches();
  assert.equal(touches.nextAt(), Number.POSITIVE_INFINITY);
  touches.told("r", presence("a", 60_000), 0);
  assert.equal(touches.nextAt(), 1_000);
  assert.deepEqual(idsOf(touches, 999), []);
  const times: number[] = [];
  for (let now = 1_000; now <= 20_000; now += 500) if (idsOf(touches, now).length > 0) times.push(now);
  assert.deepEqual(times, [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]);
  assert.equal(touches.nextAt(), Number.POSITIVE_INFINITY);
});

test("what was confirmed is not told again, and of one visit only the latest is", () => {
  const touches = new Touches();
  touches.told("r", presence("a", 60_000), 0);
  touches.told("r", presence("b", 60_000), 0);
  touches.told("r", presence("b", 90_000), 100);
  touches.told("r", presence("b", 70_000), 200);
  const seen: number[] = [];
  touches.due(2_000, ({ presence: { id, expiresAt } }) => {
    seen.push(expiresAt);
    return id === "a";
  });
  assert.deepEqual(seen, [60_000, 90_000]);
  assert.deepEqual(idsOf(touches, 4_000), ["b"]);
});

test("repeats follow the clock of the sender, and their number is limited", () => {
  const touches = new Touches();
  for (let n = 0; n < 60_000; n++) touches.told("r", presence(String(n), 60_000), 0);
  assert.equal(idsOf(touches, 1_000).length, 50_000);
});
