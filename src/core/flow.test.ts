import assert from "node:assert/strict";
import { test } from "node:test";
import { proves } from "../testing/requirements/proves.ts";
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

test(proves(["ce7"], "every span of time holds its share, within one turn's worth and one"), () => {
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

test("late turns of the door catch up, but by no more than two seconds' worth", () => {
  const flow = new Flow();
  const perMinute = 600;
  let now = START;
  for (; now < START + SETTLED_MS; now += TICK_MS) flow.take(perMinute, flow.allowance(perMinute, now), now);
  now += 1_000;
  const after = flow.allowance(perMinute, now);
  assert.ok(after >= 11 && after <= 13, `${after} after a second`);
  assert.equal(flow.allowance(perMinute, now + 10_000), 20);
});

test("what is given back can be let in again, as if it had never been taken", () => {
  const [flow, other] = [new Flow(), new Flow()];
  const perMinute = 600;
  for (const one of [flow, other]) one.take(perMinute, one.allowance(perMinute, START), START);
  const later = START + 1_000;
  flow.take(perMinute, 7, later);
  flow.giveBack(perMinute, 7);
  assert.equal(flow.allowance(perMinute, later), other.allowance(perMinute, later));
  assert.deepEqual(flow.bySecond(later), other.bySecond(later));
});

test("the latest are given back first, and never more than were taken", () => {
  const flow = new Flow();
  flow.take(null, 3, START);
  flow.take(null, 2, START + 1_000);
  flow.giveBack(null, 3);
  assert.deepEqual([...flow.bySecond(START + 1_000)], [[START, 2]]);
  flow.giveBack(null, 9);
  assert.deepEqual([...flow.bySecond(START + 1_000)], []);
  assert.equal(flow.allowance(60, START + 1_000), 2);
});

test("a minute's limit counts what was taken and not given back", () => {
  const flow = new Flow();
  const perMinute = 10;
  flow.take(perMinute, 10, START);
  flow.giveBack(perMinute, 4);
  let letIn = 0;
  for (let now = START; now < START + MINUTE_MS; now += TICK_MS) {
    const count = flow.allowance(perMinute, now);
    flow.take(perMinute, count, now);
    letIn += count;
  }
  assert.equal(letIn, 4);
});

test("a flow that is handed over continues where it was", () => {
  for (const perMinute of [7, 60, 600, 7_777]) {
    let flow = new Flow();
    const instants: number[] = [];
    for (let ms = 0; ms <= 5 * MINUTE_MS; ms += TICK_MS) {
      const now = START + ms;
      // Every few turns somebody else goes on with it, over a wire.
      if (ms % 1_400 === 0) {
        const next = new Flow();
        next.take(perMinute, 5, now);
        next.takeOver(structuredClone(flow.handOver(now)), now);
        flow = next;
      }
      const count = flow.allowance(perMinute, now);
      flow.take(perMinute, count, now);
      for (let i = 0; i < count; i++) instants.push(ms);
    }
    const alone = admissions(perMinute, 5 * MINUTE_MS);
    let first = 0;
    for (const [index, at] of instants.entries()) {
      while (instants[first]! <= at - MINUTE_MS) first++;
      assert.ok(index - first + 1 <= perMinute, `${index - first + 1} in a minute at ${perMinute}`);
    }
    // Admissions are told to within a quarter of a second, which may hold people back for as long once a minute.
    const slack = 5 * Math.ceil(perMinute / 240) + 1;
    assert.ok(Math.abs(instants.length - alone.length) <= slack, `${instants.length} of ${alone.length}`);
  }
});

test("entries that were handed over are forgotten after a minute", () => {
  const flow = new Flow();
  flow.take(60, 9, START);
  const next = new Flow();
  next.takeOver(flow.handOver(START), START);
  assert.deepEqual([...next.bySecond(START)], [[START, 9]]);
  assert.deepEqual([...next.bySecond(START + MINUTE_MS)], []);
});
