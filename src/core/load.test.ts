import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seededFraction } from "../sim/hand-world.ts";
import type { Load } from "./engine.ts";
import { ANSWERS_MIN, ERRORS_MIN, errorsBeyondChance, LoadMeter, SEEN_OVER_MS } from "./load.ts";

const START = 1_000_000_000;
const IDLE: Load = {
  from: "a",
  periodMs: 1_000,
  requests: 0,
  answers: 0,
  errors: 0,
  latencyMs: null,
  inFlight: 0,
};

test("the rate is that of the last minute, over all gateways", () => {
  const meter = new LoadMeter();
  for (let second = 0; second < 90; second++) {
    meter.hear({ ...IDLE, from: "a", requests: 30 }, START + second * 1_000);
    meter.hear({ ...IDLE, from: "b", requests: 12 }, START + second * 1_000 + 400);
  }
  assert.equal(meter.seen(START + 89_500).requestsPerSecond, 42);
  assert.equal(meter.seen(START + 89_500 + 30_000).requestsPerSecond, 21);
  assert.equal(meter.seen(START + 89_500 + 60_000).requestsPerSecond, 0);
});

test("a single busy second is not a busy minute", () => {
  const meter = new LoadMeter();
  meter.hear({ ...IDLE, requests: 600 }, START);
  assert.equal(meter.seen(START).requestsPerSecond, 10);
});

test("the sums are those of plain lists of everything heard", () => {
  const report = fc.record({
    waitMs: fc.integer({ min: 0, max: 4_000 }),
    from: fc.constantFrom("a", "b", "c"),
    requests: fc.integer({ min: 0, max: 1_000 }),
    answers: fc.oneof(fc.constant(0), fc.integer({ min: 20, max: 1_000 })),
    errors: fc.integer({ min: 0, max: 300 }),
    latencyMs: fc.option(fc.integer({ min: 0, max: 9_000 })),
    inFlight: fc.integer({ min: 0, max: 500 }),
  });
  fc.assert(
    fc.property(fc.array(report, { minLength: 1, maxLength: 120, size: "max" }), (reports) => {
      const meter = new LoadMeter();
      const heard: (Load & { at: number })[] = [];
      let now = START;
      for (const { waitMs, ...parts } of reports) {
        now += waitMs;
        const load = { ...IDLE, ...parts };
        meter.hear(load, now);
        heard.push({ ...load, at: now });
      }
      const secondsAgo = ({ at }: { at: number }) => Math.floor(now / 1_000) - Math.floor(at / 1_000);
      const lastOf = (from: string) => heard.findLast((load) => load.from === from);
      const isLiving = ({ from }: Load) => now - lastOf(from)!.at <= 5_000;
      const recent = heard.filter((load) => secondsAgo(load) < SEEN_OVER_MS / 1_000 && isLiving(load));
      const timed = recent.filter((load) => load.latencyMs !== null);
      const total = (loads: readonly Load[], of: (load: Load) => number) =>
        loads.reduce((sum, load) => sum + of(load), 0);
      const seen = meter.seen(now);
      const inMinute = heard.filter((load) => secondsAgo(load) < 60);
      assert.equal(seen.requestsPerSecond, total(inMinute, (load) => load.requests) / 60);
      assert.equal(
        seen.answers,
        total(recent, (load) => load.answers),
      );
      const errors = total(recent, (load) => Math.min(load.errors, load.answers));
      assert.equal(seen.errors, seen.answers === 0 ? 0 : errors / seen.answers);
      const weights = total(timed, (load) => load.answers);
      const spentMs = total(timed, (load) => load.answers * load.latencyMs!);
      assert.equal(seen.latencyMs, weights === 0 ? null : spentMs / weights);
      const living = ["a", "b", "c"].flatMap((from) => lastOf(from) ?? []).filter(isLiving);
      assert.equal(
        seen.inFlight,
        total(living, (load) => load.inFlight),
      );
    }),
  );
});

test("a gateway that falls silent no longer counts, but the requests it saw did come", () => {
  const meter = new LoadMeter();
  const slow = { ...IDLE, requests: 600, answers: 100, errors: 50, latencyMs: 4_000, inFlight: 70 };
  meter.hear({ ...slow, from: "dying" }, START);
  meter.hear({ ...IDLE, from: "living", requests: 600, answers: 100, latencyMs: 200, inFlight: 3 }, START);
  assert.deepEqual(meter.seen(START), {
    requestsPerSecond: 20,
    answers: 200,
    errors: 0.25,
    latencyMs: 2_100,
    inFlight: 73,
  });
  meter.hear({ ...IDLE, from: "living", inFlight: 4 }, START + 5_001);
  assert.deepEqual(meter.seen(START + 5_001), {
    requestsPerSecond: 20,
    answers: 100,
    errors: 0,
    latencyMs: 200,
    inFlight: 4,
  });
});

test("a gateway with more answers has more to say about the latency", () => {
  const meter = new LoadMeter();
  meter.hear({ ...IDLE, from: "a", answers: 900, latencyMs: 100 }, START);
  meter.hear({ ...IDLE, from: "b", answers: 100, latencyMs: 1_100 }, START);
  assert.equal(meter.seen(START).latencyMs, 200);
});

test("many small reports tell about the same latency as a few large ones", () => {
  const dice = seededFraction(1);
  const answerMs = () => 100 - 100 * Math.log(1 - dice());
  const trueMs = 100 + 100 * Math.log(20);
  for (const perReport of [1, 2, 3, 5, 10, 40, 300]) {
    const meter = new LoadMeter();
    const told: number[] = [];
    for (let ms = 0; ms < 1_200_000; ms += 1_000) {
      const times = Array.from({ length: perReport }, answerMs).sort((a, b) => a - b);
      const latencyMs = times[Math.floor(perReport * 0.95)]!;
      meter.hear({ ...IDLE, answers: perReport, latencyMs }, START + ms);
      told.push(meter.seen(START + ms).latencyMs ?? trueMs);
    }
    const mean = told.reduce((sum, one) => sum + one, 0) / told.length;
    assert.ok(Math.abs(mean / trueMs - 1) < 0.2, `${perReport} a report: ${mean} for ${trueMs}`);
  }
});

test("a small report that no other joined in time is forgotten", () => {
  const meter = new LoadMeter();
  meter.hear({ ...IDLE, answers: 10, latencyMs: 9_000 }, START);
  meter.hear({ ...IDLE, answers: 10, latencyMs: 100 }, START + SEEN_OVER_MS);
  meter.hear({ ...IDLE, answers: 10, latencyMs: 120 }, START + SEEN_OVER_MS + 1_000);
  assert.equal(meter.seen(START + SEEN_OVER_MS + 1_000).latencyMs, 120);
});

test("small reports of many gateways are put together too", () => {
  const meter = new LoadMeter();
  for (let i = 0; i < 60; i++)
    meter.hear({ ...IDLE, from: `gateway ${i}`, answers: 1, latencyMs: 100 + i }, START + i * 10);
  const { latencyMs } = meter.seen(START + 600);
  assert.ok(latencyMs! > 115 && latencyMs! < 160, `${latencyMs}`);
});

test("of a thousand gateways only the last few are remembered", () => {
  const meter = new LoadMeter();
  for (let i = 0; i < 1_000; i++)
    meter.hear({ ...IDLE, from: `gateway ${i}`, requests: 6, answers: i < 900 ? 1 : 0, inFlight: 1 }, START);
  assert.deepEqual(meter.seen(START), {
    requestsPerSecond: 100,
    answers: 0,
    errors: 0,
    latencyMs: null,
    inFlight: 64,
  });
});

test("a gateway that keeps telling is not forgotten for others that came and went", () => {
  const meter = new LoadMeter();
  for (let i = 0; i < 1_000; i++) {
    meter.hear({ ...IDLE, from: "steady", answers: 1, inFlight: 1_000 }, START);
    meter.hear({ ...IDLE, from: `passing ${i}` }, START);
  }
  assert.equal(meter.seen(START).inFlight, 1_000);
  assert.equal(meter.seen(START).answers, 1_000);
});

test("whatever a report says, what is seen is finite, not negative, and its shares are shares", () => {
  const hostile = fc.oneof(
    fc.double(),
    fc.constantFrom(Number.NaN, Infinity, -Infinity, -1, 0, Number.MAX_VALUE),
  );
  const report = fc.record({
    from: fc.string(),
    periodMs: hostile,
    requests: hostile,
    answers: hostile,
    errors: hostile,
    latencyMs: fc.option(hostile),
    inFlight: hostile,
  });
  fc.assert(
    fc.property(fc.array(report, { maxLength: 100, size: "max" }), (reports) => {
      const meter = new LoadMeter();
      for (const [i, load] of reports.entries()) meter.hear(load, START + i * 150);
      const seen = meter.seen(START + reports.length * 150);
      for (const [name, value] of Object.entries(seen))
        if (name !== "latencyMs" || value !== null)
          assert.ok(value >= 0 && value < Infinity, `${name}: ${value}`);
      assert.ok(seen.errors <= 1);
    }),
  );
});

test("a few errors, or errors of a few answers, are chance", () => {
  const errors = 0.5;
  assert.equal(errorsBeyondChance({ answers: ANSWERS_MIN - 1, errors }), 0);
  assert.equal(errorsBeyondChance({ answers: ANSWERS_MIN, errors }), errors);
  assert.equal(errorsBeyondChance({ answers: 60, errors: (ERRORS_MIN - 1) / 60 }), 0);
  assert.equal(errorsBeyondChance({ answers: 60, errors: ERRORS_MIN / 60 }), ERRORS_MIN / 60);
});
