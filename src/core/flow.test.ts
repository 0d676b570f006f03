import assert from "node:assert/strict";
import { test } from "node:test";
import { Flow } from "./flow.ts";

const START = 1_000_000_000;
const TICK_MS = 200;
const MINUTE_MS = 60_000;
/** The opening burst of a quiet room is made up for within its first minute. */
const SETTLED_MS = 2 * MINUTE_MS;

/** The instant of every admission from a line that never ends, at a set rate, turned every 200 ms. */
function admissions(perMinute: number, forMs: number): number[] {
  const flow = new Flow();
  const instants: number[] = [];
  for (let ms = 0; ms <= forMs; ms += TICK_MS) {
    const count = flow.allowance(perMinute, START + ms);
    flow.take(perMinute, count, START + ms);
    for (let i = 0; i < count; i++) instants.push(ms);
  }
  return instants;
}

/** Deviation of the gaps between neighbours, as a share of their mean. */
function variation(instants: readonly number[]): number {
  const gaps = instants.slice(1).map((at, i) => at - instants[i]!);
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  return Math.sqrt(variance) / mean;
}

for (const perMinute of [1, 5, 7, 11, 29, 31, 60, 150, 300, 1_000, 7_777, 60_000])
  test(`at ${perMinute} a minute admissions are evenly spaced, none later than a turn and a gap`, (t) => {
    const gapMs = MINUTE_MS / perMinute;
    const forMs = 30 * MINUTE_MS;
    const instants = admissions(perMinute, forMs).filter((at) => at >= SETTLED_MS);
    // The k-th ideally comes k gaps after the first, and that as early as any of them says.
    const from = instants.map((at, k) => at - k * gapMs);
    const latest = from.reduce((a, b) => Math.max(a, b)) - from.reduce((a, b) => Math.min(a, b));
    const found = variation(instants);
    t.diagnostic(
      `at most ${latest.toFixed(0)} ms late, a gap is ${gapMs.toFixed(1)}; variation ${found.toFixed(3)}`,
    );
    assert.ok(latest <= TICK_MS + gapMs + 1e-3, `${latest} ms late`);
    assert.ok(found <= TICK_MS / gapMs, `variation ${found}`);
    const ideal = (forMs - SETTLED_MS) / gapMs;
    assert.ok(Math.abs(instants.length - ideal) <= TICK_MS / gapMs + 1, `${instants.length} of ${ideal}`);
  });

test("every span of time holds its share, within one turn's worth and one", () => {
  for (const perMinute of [5, 150, 1_000, 7_777]) {
    const slack = (TICK_MS * perMinute) / MINUTE_MS + 1;
    const instants = admissions(perMinute, 5 * MINUTE_MS).filter((at) => at >= SETTLED_MS);
    for (const spanMs of [TICK_MS, 1_000, 5_000, 30_000]) {
      const ideal = (spanMs * perMinute) / MINUTE_MS;
      let [first, next] = [0, 0];
      for (let start = SETTLED_MS; start + spanMs <= 5 * MINUTE_MS; start += TICK_MS) {
        while (instants[first]! < start) first++;
        while (next < instants.length && instants[next]! < start + spanMs) next++;
        const held = next - first;
        assert.ok(Math.abs(held - ideal) <= slack, `${held} in ${spanMs} ms at ${perMinute} a minute`);
      }
    }
  }
});

test("turns of the door that come late make up for it, but never for more than two seconds' worth", () => {
  const flow = new Flow();
  const perMinute = 600;
  let now = START;
  for (; now < START + SETTLED_MS; now += TICK_MS) flow.take(perMinute, flow.allowance(perMinute, now), now);
  now += 1_000;
  const after = flow.allowance(perMinute, now);
  assert.ok(after >= 11 && after <= 13, `${after} after a second`);
  assert.equal(flow.allowance(perMinute, now + 10_000), 20);
});
