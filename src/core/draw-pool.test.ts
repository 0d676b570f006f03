import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DrawPool } from "./draw-pool.ts";
import { toHex } from "./hex.ts";

const id = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => toHex(bytes));
/** Sequences near one another, at the ends of blocks and chunks, and a million or more apart. */
const sequence = fc
  .tuple(fc.constantFrom(0, 4_000, 8_191, 1_000_000, 47_000_000_000_000), fc.nat({ max: 300 }))
  .map(([base, offset]) => base + offset);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("add" as const), sequence, id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("keep" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear" as const) }) },
);

/** Everyone in the pool, in its order. */
function everyone(pool: DrawPool): [number, string][] {
  const all: [number, string][] = [];
  pool.forEachRun((first, length, ids) => {
    assert.equal(ids.length, 16 * length);
    for (let i = 0; i < length; i++) all.push([first + i, toHex(ids, 16 * i, 16)]);
  });
  return all;
}

function keep(pool: DrawPool, disk: Map<number, Uint8Array>): void {
  for (const [chunk, bytes] of pool.takeChanges()) {
    if (bytes) disk.set(chunk, bytes);
    else disk.delete(chunk);
  }
}

test("a pool holds the added visitors by sequence, and after a crash those that were stored", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: "max" }), (steps) => {
      let pool = new DrawPool();
      let model = new Map<number, string>();
      let kept = new Map<number, string>();
      const disk = new Map<number, Uint8Array>();
      for (const one of steps) {
        if (one.kind === "add") {
          assert.equal(pool.add(one.sequence, one.id), !model.has(one.sequence));
          if (!model.has(one.sequence)) model.set(one.sequence, one.id);
        } else if (one.kind === "clear") {
          pool.clear();
          model.clear();
        } else if (one.kind === "keep") {
          keep(pool, disk);
          assert.equal(pool.hasChanges, false);
          kept = new Map(model);
        } else {
          pool = new DrawPool();
          for (const [chunk, bytes] of [...disk].reverse()) pool.restore(chunk, bytes);
          assert.equal(pool.hasChanges, false);
          model = new Map(kept);
        }
        assert.equal(pool.size, model.size);
      }
      assert.deepEqual(
        everyone(pool),
        [...model].sort(([a], [b]) => a - b),
      );
      for (const one of model.keys()) assert.ok(pool.has(one));
      assert.equal(pool.has(2_000_000), false);
      keep(pool, disk);
      assert.equal(disk.size > 0, model.size > 0, "a disk without people holds nothing");
    }),
    { numRuns: 300 },
  );
});

test("a visitor added twice is there once, with the first id", () => {
  const pool = new DrawPool();
  assert.equal(pool.add(7, "1".repeat(32)), true);
  pool.takeChanges();
  assert.equal(pool.add(7, "2".repeat(32)), false);
  assert.equal(pool.size, 1);
  assert.equal(pool.hasChanges, false);
  assert.deepEqual(everyone(pool), [[7, "1".repeat(32)]]);
});

test("only what changed goes to the disk, and little of it", () => {
  const pool = new DrawPool();
  for (let i = 0; i < 10_000; i++) pool.add(i, i.toString(16).padStart(32, "0"));
  assert.equal(pool.takeChanges().size, Math.ceil(10_000 / 256));
  pool.add(10_000, "f".repeat(32));
  const changes = [...pool.takeChanges().values()];
  assert.equal(changes.length, 1);
  assert.ok(changes[0]!.length <= 32 + 256 * 16);
});

test("a chunk that is too short or too long is refused", () => {
  const pool = new DrawPool();
  pool.add(3, "a".repeat(32));
  const [[chunk, bytes]] = [...pool.takeChanges()] as [[number, Uint8Array]];
  for (const wrong of [bytes.subarray(0, -1), new Uint8Array([...bytes, 0]), new Uint8Array()])
    assert.throws(() => new DrawPool().restore(chunk, wrong), /bytes/);
});

test("anything but an id is refused", () => {
  for (const wrong of ["", "a".repeat(31), "a".repeat(33), "G".repeat(32)])
    assert.throws(() => new DrawPool().add(1, wrong), RangeError);
});
