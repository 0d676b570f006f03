/** The sweep, beside a plain map of deadlines that is asked in full every time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ADMITTED, GONE, LAPSED, Places, type State, WAITING } from "./places.ts";

const NOW = Date.UTC(2026, 5, 1, 10);
const SECOND = 1_000;
const SEGMENT_SIZE = 65_536;
/** One look at a segment in each sweep. */
const ONE_LOOK = SEGMENT_SIZE;
const ALL_LOOKS = SEGMENT_SIZE * 100;

/** Who lapses at this instant, in order. */
function sweep(places: Places, now: number, placesMax = ALL_LOOKS): number[] {
  const lapsed: number[] = [];
  places.sweep(now, placesMax, (sequence) => {
    places.set(sequence, LAPSED, now);
    lapsed.push(sequence);
  });
  return lapsed.sort((a, b) => a - b);
}

/** One visitor waiting in each segment; the first is due first, the others much later. */
function spread(segments: number): Places {
  const places = new Places(NOW, false);
  for (let i = 0; i < segments; i++)
    places.set(i * SEGMENT_SIZE + 5, WAITING, NOW + (i === 0 ? 10 * SECOND : 600 * SECOND));
  return places;
}

test("a place that lapses in an old segment is found at its deadline, and not a tenth before", () => {
  const places = spread(12);
  assert.deepEqual(sweep(places, NOW + 10 * SECOND - 100), []);
  assert.deepEqual(sweep(places, NOW + 10 * SECOND), [5]);
  assert.deepEqual(sweep(places, NOW + 60 * SECOND), []);
});

test("segments where nobody is due take up none of a sweep's looks", () => {
  const places = spread(12);
  for (let i = 1; i < 7; i++) assert.deepEqual(sweep(places, NOW + i * SECOND, ONE_LOOK), []);
  assert.deepEqual(sweep(places, NOW + 10 * SECOND, ONE_LOOK), [5]);
});

test("a segment where nobody was due is not looked at again until somebody in it is", () => {
  const places = spread(12);
  for (let i = 0; i < 12; i++) {
    places.set(i * SEGMENT_SIZE + 6, WAITING, NOW + SECOND);
    places.set(i * SEGMENT_SIZE + 6, WAITING, NOW + 600 * SECOND);
  }
  assert.deepEqual(sweep(places, NOW + SECOND), []);
  places.set(11 * SEGMENT_SIZE + 7, WAITING, NOW + 2 * SECOND);
  assert.deepEqual(sweep(places, NOW + 2 * SECOND, ONE_LOOK), [11 * SEGMENT_SIZE + 7]);
});

test("where more segments are due than a sweep may look at, each has its turn in the next ones", () => {
  const places = spread(5);
  const found = Array.from({ length: 5 }, () => sweep(places, NOW + 600 * SECOND, ONE_LOOK));
  assert.deepEqual(
    found.flat().sort((a, b) => a - b),
    [0, 1, 2, 3, 4].map((i) => i * SEGMENT_SIZE + 5),
  );
  assert.ok(found.every(({ length }) => length === 1));
});

test("a segment whose people are due at every sweep does not keep the others from being looked at", () => {
  const places = spread(3);
  const found: number[] = [];
  for (let i = 0; i < 3; i++) {
    places.set(7, WAITING, NOW + 600 * SECOND);
    found.push(...sweep(places, NOW + 600 * SECOND, ONE_LOOK));
  }
  assert.ok(found.includes(SEGMENT_SIZE + 5) && found.includes(2 * SEGMENT_SIZE + 5), String(found));
});

test("a deadline moved later is not swept early, but at its new instant", () => {
  const places = spread(2);
  places.set(5, WAITING, NOW + 30 * SECOND);
  assert.deepEqual(sweep(places, NOW + 10 * SECOND), []);
  assert.deepEqual(sweep(places, NOW + 30 * SECOND - 100), []);
  assert.deepEqual(sweep(places, NOW + 30 * SECOND), [5]);
});

test("a deadline moved sooner is found at its new instant", () => {
  const places = spread(2);
  assert.deepEqual(sweep(places, NOW + SECOND), []);
  places.set(SEGMENT_SIZE + 5, WAITING, NOW + 2 * SECOND);
  assert.deepEqual(sweep(places, NOW + 2 * SECOND), [SEGMENT_SIZE + 5]);
});

test("a visitor who lapsed and came back lapses again when they stay away", () => {
  const places = spread(1);
  assert.deepEqual(sweep(places, NOW + 10 * SECOND), [5]);
  places.set(5, WAITING, NOW + 20 * SECOND);
  assert.deepEqual(sweep(places, NOW + 20 * SECOND - 100), []);
  assert.deepEqual(sweep(places, NOW + 20 * SECOND), [5]);
});

test("visitors with a turn and those gone do not lapse, and the next in their segment is still found", () => {
  const places = spread(1);
  places.set(6, WAITING, NOW + 11 * SECOND);
  places.set(7, WAITING, NOW + 12 * SECOND);
  places.set(5, ADMITTED, NOW + 10 * SECOND);
  places.set(6, GONE, NOW);
  assert.deepEqual(sweep(places, NOW + 11 * SECOND), []);
  assert.deepEqual(sweep(places, NOW + 12 * SECOND), [7]);
});

test("deadlines go along where places change hands, also into a segment where nobody was due", () => {
  const places = spread(3);
  const [first, last] = [5, 2 * SEGMENT_SIZE + 5];
  assert.deepEqual(sweep(places, NOW + SECOND), []);
  places.move(Float64Array.of(first, last), Float64Array.of(last, first));
  assert.deepEqual(sweep(places, NOW + 10 * SECOND - 100), []);
  assert.deepEqual(sweep(places, NOW + 10 * SECOND), [last]);
  assert.deepEqual(sweep(places, NOW + 600 * SECOND), [first, SEGMENT_SIZE + 5]);
});

test("places that were restored lapse at the deadlines they are given then", () => {
  const before = new Places(NOW, true);
  for (const sequence of [5, 6, SEGMENT_SIZE + 5]) before.set(sequence, WAITING, NOW + SECOND);
  before.set(6, GONE, NOW);
  const places = new Places(NOW + 60 * SECOND, true);
  const deadlineOf = (sequence: number) => NOW + (sequence === 5 ? 90 : 80) * SECOND;
  for (const [block, bytes] of before.takeChanges()) places.restore(block, bytes!, deadlineOf);
  assert.deepEqual(sweep(places, NOW + 80 * SECOND - 100), []);
  assert.deepEqual(sweep(places, NOW + 80 * SECOND), [SEGMENT_SIZE + 5]);
  assert.deepEqual(sweep(places, NOW + 90 * SECOND), [5]);
});

/** Three segments, a few places in each. */
const sequenceArbitrary = fc
  .tuple(fc.nat(2), fc.nat(3))
  .map(([segment, place]) => segment * SEGMENT_SIZE + place);
const stepArbitrary = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      sequence: sequenceArbitrary,
      state: fc.constantFrom<State>(WAITING, WAITING, WAITING, ADMITTED, GONE),
      inTenths: fc.nat(30),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("swap" as const),
      sequence: sequenceArbitrary,
      other: sequenceArbitrary,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("sweep" as const), afterTenths: fc.nat(10) }) },
);

test("whatever is set and moved, every sweep finds exactly those who wait past their deadline", () => {
  fc.assert(
    fc.property(fc.array(stepArbitrary, { maxLength: 40, size: "max" }), (steps) => {
      const places = new Places(NOW, false);
      const waiting = new Map<number, number>();
      let now = NOW;
      for (const step of steps) {
        if (step.do === "set") {
          const deadline = now + step.inTenths * 100;
          places.set(step.sequence, step.state, deadline);
          if (step.state === WAITING) waiting.set(step.sequence, deadline);
          else waiting.delete(step.sequence);
        } else if (step.do === "swap") {
          if (step.sequence === step.other) continue;
          const pair = [step.sequence, step.other];
          places.move(Float64Array.from(pair), Float64Array.from(pair.toReversed()));
          swap(waiting, step.sequence, step.other);
        } else {
          now += step.afterTenths * 100;
          const due = [...waiting].filter(([, deadline]) => deadline <= now).map(([sequence]) => sequence);
          for (const sequence of due) waiting.delete(sequence);
          assert.deepEqual(
            sweep(places, now),
            due.sort((a, b) => a - b),
          );
        }
      }
    }),
    { numRuns: 100 },
  );
});

function swap(map: Map<number, number>, one: number, other: number): void {
  const [first, second] = [map.get(one), map.get(other)];
  for (const [key, value] of [[one, second] as const, [other, first] as const])
    if (value === undefined) map.delete(key);
    else map.set(key, value);
}
