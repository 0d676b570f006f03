import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { keyAt } from "../log/order-clock.ts";
import { type OverPlace, OverPlaces } from "./over-places.ts";

const START = Date.UTC(2026, 0, 1);

/** Keys as nodes give them out, and as passes have them. */
const KEYS = [
  ...Array.from({ length: 40 }, (_, n) => keyAt({ at: START + (n >> 2), node: n & 3 })),
  ...Array.from({ length: 20 }, (_, n) => -1 - n * 0x1_0000_0000),
];

const PLACE: OverPlace = { key: 0, lane: 0, origin: 1, epoch: 0, until: START, id: "" };
const places = fc.record<OverPlace>({
  key: fc.constantFrom(...KEYS),
  lane: fc.nat(3),
  origin: fc.nat(3),
  epoch: fc.nat(9),
  until: fc.integer({ min: START, max: 2 * START }),
  id: fc.constantFrom("", "v", "w"),
});
const OWNERS = ["a#1", "b#1", "c#1", "d#1"];

/** By the latest view, then by name; remembered for as long as anyone said. */
function merged(known: OverPlace | undefined, told: OverPlace): OverPlace {
  if (!known) return { ...told };
  const isTold = told.epoch > known.epoch || (told.epoch === known.epoch && told.origin < known.origin);
  const { origin, epoch } = isTold ? told : known;
  return { ...known, origin, epoch, until: Math.max(known.until, told.until), id: known.id || told.id };
}

const changes = fc.array(fc.oneof(places, fc.constantFrom(...KEYS)), { maxLength: 200 });

test("places go in and out as in a map, whatever their order", () => {
  fc.assert(
    fc.property(changes, (all) => {
      const [over, model] = [new OverPlaces(), new Map<number, OverPlace>()];
      for (const change of all) {
        if (typeof change === "number") assert.equal(over.delete(change), model.delete(change));
        else {
          over.tell(change, OWNERS[change.origin]!);
          model.set(change.key, merged(model.get(change.key), change));
        }
      }
      assert.equal(over.size, model.size);
      for (const key of KEYS) {
        assert.equal(over.has(key), model.has(key));
        assert.deepEqual(over.get(key), model.get(key));
      }
      assert.deepEqual(over.origins(), new Set([...model.values()].map(({ origin }) => origin)));
      const byKey = (a: OverPlace, b: OverPlace) => a.key - b.key;
      const all0 = [...model.values()].filter(({ origin }) => origin === 0).sort(byKey);
      assert.deepEqual([...over.of(0)].sort(byKey), all0);
    }),
  );
});

test("a hundred thousand places are found, and can be removed again", () => {
  const over = new OverPlaces();
  const keys = Array.from(
    { length: 100_000 },
    (_, n) => keyAt({ at: START + Math.floor(n / 9), node: n % 16 }) + (n % 9) * 64,
  );
  for (const key of keys) over.tell({ ...PLACE, key, until: key }, "b#1");
  assert.equal(over.size, new Set(keys).size);
  assert.ok(keys.every((key) => over.get(key)?.until === key));
  for (const key of keys) over.delete(key);
  assert.equal(over.size, 0);
  assert.ok(!keys.some((key) => over.has(key)));
});

test("after a draw, a place is over where it has gone, and only there", () => {
  const over = new OverPlaces();
  const [a, b, c] = KEYS as [number, number, number];
  over.tell({ ...PLACE, key: a, until: 1 }, "b#1");
  over.tell({ ...PLACE, key: b, until: 2 }, "b#1");
  const moved = over.move(Float64Array.of(a, b, c), Float64Array.of(b, c, a));
  assert.deepEqual(
    moved.map(({ key, until }) => [key, until]),
    [
      [b, 1],
      [c, 2],
    ],
  );
  assert.deepEqual(
    [a, b, c].map((key) => over.get(key)?.until),
    [undefined, 1, 2],
  );
});
