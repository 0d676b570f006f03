import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { seededFraction } from "../sim/hand-world.ts";
import { proves } from "../testing/requirements/proves.ts";
import { drawOrder, seedHash } from "./draw.ts";
import { DrawPool } from "./draw-pool.ts";
import { toHex } from "./hex.ts";

type Someone = readonly [sequence: number, id: string];

const SEED = "00112233445566778899aabbccddeeff".repeat(2);
const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => toHex(all));
/** Some people with sequences in runs and gaps. */
const crowd = fc.uniqueArray(
  fc.tuple(
    fc.tuple(fc.constantFrom(0, 4_090, 47_000_000_000_000), fc.nat({ max: 40 })).map(([a, b]) => a + b),
    hex(16),
  ),
  { maxLength: 60, size: "max", selector: ([sequence]) => sequence },
);

function poolOf(people: readonly Someone[]): DrawPool {
  const pool = new DrawPool();
  for (const [sequence, id] of people) pool.add(sequence, id);
  return pool;
}

/** The definition, as one would write it: hash each, sort, deal the sequences out. */
function drawnByDefinition(people: readonly Someone[], seed: string) {
  const keyOf = (id: string) =>
    createHash("sha256")
      .update(Buffer.from(seed + id, "hex"))
      .digest("hex");
  const keyed = people.map(([old, id]) => ({ old, id, key: keyOf(id) }));
  const sequences = people.map(([sequence]) => sequence).sort((a, b) => a - b);
  return keyed
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ old, id }, rank) => ({ id, old, now: sequences[rank]! }));
}

function idsOf(bytes: Uint8Array): string[] {
  return Array.from({ length: bytes.length / 16 }, (_, i) => toHex(bytes, 16 * i, 16));
}

function movesOf(drawn: ReturnType<typeof drawOrder>): [number, number][] {
  const moves: [number, number][] = [];
  drawn.forEachMove((old, now) => moves.push([old, now]));
  return moves;
}

test("what is published of a seed is its SHA-256", () => {
  fc.assert(
    fc.property(hex(32), (seed) => {
      assert.equal(seedHash(seed), createHash("sha256").update(Buffer.from(seed, "hex")).digest("hex"));
    }),
  );
  for (const wrong of ["", SEED.slice(2), `${SEED}00`, SEED.replace("0", "x"), SEED.toUpperCase()])
    assert.throws(() => seedHash(wrong), RangeError);
});

test("places are the keys in rising order, and sequences are dealt out among those who gathered", () => {
  fc.assert(
    fc.property(crowd, hex(32), hex(16), (people, seed, stranger) => {
      const drawn = drawOrder(poolOf(people), seed);
      const expected = drawnByDefinition(people, seed);
      assert.equal(drawn.size, people.length);
      assert.deepEqual(
        idsOf(drawn.ids()),
        expected.map(({ id }) => id),
      );
      assert.deepEqual(
        movesOf(drawn),
        expected.map(({ old, now }) => [old, now]),
      );
      for (const [rank, { id, now }] of expected.entries()) {
        assert.equal(drawn.placeOf(id), rank + 1);
        assert.equal(drawn.sequenceFor(id), now);
      }
      if (!people.some(([, id]) => id === stranger)) assert.equal(drawn.sequenceFor(stranger), null);
    }),
    { numRuns: 300 },
  );
});

test("the same people and seed give the same draw, in whatever order they came, and after a restart", () => {
  fc.assert(
    fc.property(crowd, hex(32), (people, seed) => {
      const pool = poolOf(people);
      const restarted = new DrawPool();
      for (const [chunk, bytes] of pool.takeChanges()) restarted.restore(chunk, bytes!);
      const first = drawOrder(pool, seed);
      for (const again of [drawOrder(poolOf(people.toReversed()), seed), drawOrder(restarted, seed)]) {
        assert.deepEqual(again.ids(), first.ids());
        assert.deepEqual(movesOf(again), movesOf(first));
      }
    }),
  );
});

test("keys that begin with the same 32 bits are told apart by the rest of them", () => {
  const pairs = [
    ["79aabe1f86eff1476c9822d96256d17c", "9ba26ba26239f5750bd7592df7794673"],
    ["e2e18fd56aea3e3d3b4f7cbb2e14e35d", "600af5564b7c2184aa2dd4cead4c397f"],
    ["1a5d2bc829cf92634518a99ea548304c", "461b7efda48ead6d67d1fa5edc0f89aa"],
    ["ae1ea051ea3caa8a91b4bb6696f876b3", "3b7cc27d128b2890f2b3fdd980f3f550"],
  ];
  const people = pairs.flat().map((id, i): Someone => [i, id]);
  const turned = pairs.flatMap((pair) => pair.toReversed()).map((id, i): Someone => [i, id]);
  const prefix = (id: string) =>
    createHash("sha256")
      .update(Buffer.from(SEED + id, "hex"))
      .digest("hex")
      .slice(0, 8);
  for (const [a = "", b = ""] of pairs) assert.equal(prefix(a), prefix(b));
  for (const crowded of [people, turned]) {
    const drawn = drawOrder(poolOf(crowded), SEED);
    const expected = drawnByDefinition(crowded, SEED);
    assert.deepEqual(
      idsOf(drawn.ids()),
      expected.map(({ id }) => id),
    );
    for (const { id, now } of expected) assert.equal(drawn.sequenceFor(id), now);
  }
});

test("an empty draw and an invalid id are answered", () => {
  const nobody = drawOrder(new DrawPool(), SEED);
  assert.equal(nobody.size, 0);
  assert.deepEqual(movesOf(nobody), []);
  assert.equal(nobody.ids().length, 0);
  assert.equal(nobody.sequenceFor("0".repeat(32)), null);
  const one = drawOrder(poolOf([[5, "0".repeat(32)]]), SEED);
  for (const wrong of ["", "0", "x".repeat(32), "0".repeat(34)]) assert.equal(one.placeOf(wrong), null);
  assert.equal(one.sequenceFor("0".repeat(32)), 5);
});

/**
 * How far counts are from what is expected, in standard deviations of chi-square with this many degrees of
 * freedom. Ids and seeds below are thrown with fixed dice, so a test gives the same each time.
 */
function deviation(counts: readonly number[], expected: number, freedom: number): number {
  const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  return (chiSquare - freedom) / Math.sqrt(2 * freedom);
}

const DEVIATION_MAX = 4;

function thrown(dice: () => number, bytes: number): string {
  return toHex(Uint8Array.from({ length: bytes }, () => Math.floor(dice() * 256)));
}

test("of four people, each of the 24 orders comes equally often", () => {
  const dice = seededFraction(4);
  const people = [0, 1, 2, 3].map((sequence): Someone => [sequence, thrown(dice, 16)]);
  const pool = poolOf(people);
  const counts = new Map<string, number>();
  const draws = 4_800;
  for (let i = 0; i < draws; i++) {
    const order = movesOf(drawOrder(pool, thrown(dice, 32))).join(" ");
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  assert.equal(counts.size, 24);
  assert.ok(deviation([...counts.values()], draws / 24, 23) < DEVIATION_MAX);
});

const JOINED = 100_000;
const BUCKETS = 20;
const CELL = JOINED / BUCKETS ** 2;

/**
 * How far from independent "when they joined" and "what place they got" are, by a table of twenty parts of
 * each.
 */
function dependence(places: readonly number[]): number {
  const counts = new Array<number>(BUCKETS ** 2).fill(0);
  const bucket = (rank: number) => Math.floor((rank * BUCKETS) / JOINED);
  for (const [joined, place] of places.entries()) counts[bucket(joined) * BUCKETS + bucket(place)]!++;
  return deviation(counts, CELL, (BUCKETS - 1) ** 2);
}

/** Pearson's coefficient of joining and place, in its standard deviations. */
function correlation(places: readonly number[]): number {
  const mean = (JOINED - 1) / 2;
  const variance = (JOINED ** 2 - 1) / 12;
  const covariance =
    places.reduce((sum, place, joined) => sum + (joined - mean) * (place - mean), 0) / JOINED;
  return (covariance / variance) * Math.sqrt(JOINED);
}

/** For each of a hundred thousand, in the order they joined, the place they were drawn at, from 0. */
function placesOf(ids: readonly string[], seed: string): number[] {
  const drawn = drawOrder(poolOf(ids.map((id, sequence): Someone => [sequence, id])), seed);
  return ids.map((id) => drawn.sequenceFor(id)!);
}

test(
  proves(["ce5"], "the place of a hundred thousand does not depend on when they joined, nor on their ids"),
  () => {
    const dice = seededFraction(5);
    const ids = Array.from({ length: JOINED }, () => thrown(dice, 16));
    const seed = thrown(dice, 32);
    const places = placesOf(ids, seed);
    assert.ok(dependence(places) < DEVIATION_MAX, `${dependence(places)}`);
    assert.ok(Math.abs(correlation(places)) < DEVIATION_MAX, `${correlation(places)}`);
    const byId = placesOf(ids.toSorted(), seed);
    assert.ok(dependence(byId) < DEVIATION_MAX, `${dependence(byId)}`);
    assert.ok(Math.abs(correlation(byId)) < DEVIATION_MAX, `${correlation(byId)}`);
  },
);

test("consecutive ids are drawn as evenly as random ones", () => {
  const ids = Array.from({ length: JOINED }, (_, i) => i.toString(16).padStart(32, "0"));
  const places = placesOf(ids, SEED);
  assert.ok(dependence(places) < DEVIATION_MAX, `${dependence(places)}`);
  assert.ok(Math.abs(correlation(places)) < DEVIATION_MAX, `${correlation(places)}`);
});

test("another seed gives an unrelated order", () => {
  const ids = Array.from({ length: JOINED }, (_, i) => i.toString(16).padStart(32, "0"));
  const first = placesOf(ids, SEED);
  const second = placesOf(ids, `${SEED.slice(0, -1)}e`);
  const inFirstOrder = first.map((_, i) => i).sort((a, b) => first[a]! - first[b]!);
  const places = inFirstOrder.map((index) => second[index]!);
  assert.ok(dependence(places) < DEVIATION_MAX, `${dependence(places)}`);
  assert.ok(Math.abs(correlation(places)) < DEVIATION_MAX, `${correlation(places)}`);
});

test("the checks of evenness can see: a biased draw is detected", () => {
  const inOrder = Array.from({ length: JOINED }, (_, i) => i);
  assert.ok(dependence(inOrder) > DEVIATION_MAX);
  assert.ok(correlation(inOrder) > DEVIATION_MAX);
  const ids = inOrder.map((i) => i.toString(16).padStart(32, "0"));
  const places = placesOf(ids, SEED);
  // Of the first tenth to join, one in five changes places with a latecomer, if that is for the better.
  for (let i = 0; i < JOINED / 10; i += 5) {
    const other = JOINED - 1 - i;
    if (places[other]! < places[i]!) [places[i], places[other]] = [places[other]!, places[i]!];
  }
  assert.ok(dependence(places) > DEVIATION_MAX, `${dependence(places)}`);
  assert.ok(deviation([...inOrder.slice(0, 24).fill(500), 800], 512, 24) > DEVIATION_MAX);
});
