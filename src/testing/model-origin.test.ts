import assert from "node:assert/strict";
import { test } from "node:test";
import { seededFraction } from "../sim/hand-world.ts";
import { ModelOrigin } from "./model-origin.ts";

const SHAPE = { serviceMs: 200, crowdedAt: 200, inFlightMax: 600 };
const TICK_MS = 10;

/** Keeps this many requests under way for two minutes; returns their mean time, and requests a second. */
function underLoad(inFlight: number, workers = 40) {
  const origin = new ModelOrigin<null>(SHAPE, { workers, dice: seededFraction(1), now: 0 });
  let [count, spentMs] = [0, 0];
  for (let ms = 0; ms < 120_000; ms += TICK_MS) {
    while (origin.inFlight < inFlight) origin.take(null);
    for (const { tookMs } of origin.pass(TICK_MS)) {
      count++;
      spentMs += tookMs;
    }
  }
  return { meanMs: spentMs / count, perSecond: count / 120 };
}

test("an idle site takes its service time, and does more the more is asked, up to its workers", () => {
  const [one, twenty, forty] = [underLoad(1), underLoad(20), underLoad(40)];
  for (const { meanMs } of [one, twenty, forty]) assert.ok(Math.abs(meanMs - 205) < 15, `${meanMs}`);
  assert.ok(Math.abs(twenty.perSecond / one.perSecond - 20) < 2);
  assert.ok(Math.abs(forty.perSecond - 195) < 10, `${forty.perSecond}`);
});

test("beyond its workers it does no more, only slower, and when crowded even less", () => {
  const [forty, busy, crowded] = [underLoad(40), underLoad(160), underLoad(600)];
  assert.ok(Math.abs(busy.perSecond / forty.perSecond - 1) < 0.05);
  assert.ok(busy.meanMs > 3.5 * forty.meanMs);
  assert.ok(crowded.perSecond < busy.perSecond / 2);
  assert.ok(crowded.meanMs > 10 * busy.meanMs * 0.8);
});

test("half the workers do half the work", () => {
  assert.ok(Math.abs(underLoad(100, 20).perSecond / underLoad(100, 40).perSecond - 0.5) < 0.03);
});

test("past its limit it refuses", () => {
  const origin = new ModelOrigin<number>(SHAPE, { workers: 40, dice: seededFraction(1), now: 0 });
  for (let i = 0; i < SHAPE.inFlightMax; i++) assert.equal(origin.take(i), true);
  assert.equal(origin.take(-1), false);
  assert.equal(origin.inFlight, SHAPE.inFlightMax);
});
