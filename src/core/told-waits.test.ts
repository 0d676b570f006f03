import assert from "node:assert/strict";
import { test } from "node:test";
import { ToldWaits } from "./told-waits.ts";

const MINUTE_MS = 60_000;
const NOW = 100 * MINUTE_MS;

/** Waits of ten minutes are told again and again, `off` times too long, and come true ten minutes later. */
function tell(told: ToldWaits, times: number, off: number, from = NOW): number {
  let now = from;
  for (let n = 0; n < times; n++) {
    const middle = 10 * MINUTE_MS * off;
    const half = 0.1 * middle * told.width(middle);
    told.note([{ lane: 0, sequence: n, wait: { low: middle - half, middle, high: middle + half } }], now);
    now += 10 * MINUTE_MS;
    told.compare(() => n, now);
  }
  return now;
}

test("nothing compared, nothing told", () => {
  assert.equal(new ToldWaits().accuracy(NOW), null);
});

test("the past hour says how many came true, and how many were close", () => {
  const told = new ToldWaits();
  const now = tell(told, 5, 1.02);
  assert.deepEqual(told.accuracy(now), { compared: 5, inside: 1, close: 1 });
  tell(told, 5, 1.6, now);
  const { compared, inside, close } = told.accuracy(now + 50 * MINUTE_MS)!;
  assert.ok(compared >= 5 && inside < 0.7 && close! < 0.7);
  assert.equal(told.accuracy(now + 500 * MINUTE_MS), null, "the hour is over");
});

test("ranges get wider where too few come true, and narrower where all do", () => {
  const wrong = new ToldWaits();
  tell(wrong, 60, 1.25);
  assert.ok(wrong.width(12.5 * MINUTE_MS) > 1.5);
  const right = new ToldWaits();
  tell(right, 60, 1);
  assert.ok(right.width(10 * MINUTE_MS) < 0.8);
  assert.equal(right.width(90 * MINUTE_MS), 1, "long waits are corrected apart");
});

test("what was noted is compared when its place has passed, and forgotten when nobody could have known", () => {
  const told = new ToldWaits();
  const wait = { low: 1, middle: 2, high: 3 };
  told.note([{ lane: 7, sequence: 5, wait }], NOW);
  told.compare((lane) => (lane === 7 ? 4 : 9), NOW + 1_000);
  assert.equal(told.accuracy(NOW + 1_000), null);
  told.forget();
  told.compare(() => 9, NOW + 2_000);
  assert.equal(told.accuracy(NOW + 2_000), null);
});

test("the correction survives a restart; what is no memo is left aside", () => {
  const told = new ToldWaits();
  tell(told, 60, 1.25);
  const after = new ToldWaits();
  after.restore(JSON.parse(JSON.stringify(told.memo())));
  assert.equal(after.width(12.5 * MINUTE_MS), told.width(12.5 * MINUTE_MS));
  tell(told, 1, 1.25);
  tell(after, 1, 1.25);
  assert.equal(after.width(12.5 * MINUTE_MS), told.width(12.5 * MINUTE_MS), "it goes on as slowly as before");
  const { widths, counts } = told.memo();
  const bad = [[], [1], [-1, 0, 0, 0, 0, 0], [1e99, 0, 0, 0, 0, 0], undefined as unknown as number[]];
  for (const memo of bad.flatMap((list) => [
    { widths: list, counts },
    { widths, counts: list },
  ])) {
    const fresh = new ToldWaits();
    fresh.restore(memo);
    assert.equal(fresh.width(10 * MINUTE_MS), 1);
  }
});
