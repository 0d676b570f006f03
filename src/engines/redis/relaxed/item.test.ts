import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../../../sim/hand-world.ts";
import {
  checkItemCount,
  checkItems,
  drawId,
  ID_BYTES_MAX,
  ITEMS_MAX,
  PAYLOAD_BYTES_MAX,
  shardOf,
} from "./item.ts";

const good = { priority: 1, payload: "p" };

test("an id belongs to the same shard in every version: the first 32 bits of its SHA-256, modulo their number", () => {
  // sha256("x") begins with 2d711642, sha256("ü") with 607474ca: `printf x | sha256sum`.
  assert.equal(shardOf("x", 1_000), 0x2d711642 % 1_000);
  assert.equal(shardOf("ü", 7), 0x607474ca % 7);
  assert.equal(shardOf("anything", 1), 0);
});

test("ids in a row are spread over all shards about evenly", () => {
  const counts = new Array<number>(8).fill(0);
  for (let i = 0; i < 8_000; i++) counts[shardOf(`order-${i}`, 8)]!++;
  for (const count of counts) assert.ok(count > 850 && count < 1_150, `${counts}`);
});

test("an id that is drawn has 128 bits and belongs to a shard that is allowed", () => {
  const { random } = handWorld({ seed: 7 });
  const allowed = new Set([1, 4]);
  const ids = Array.from({ length: 200 }, () => drawId(random, 5, allowed));
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.every((id) => /^[0-9a-f]{32}$/.test(id)));
  assert.deepEqual(new Set(ids.map((id) => shardOf(id, 5))), allowed);
});

test("what cannot be added is refused before anything is sent, with the value and the limit", () => {
  checkItems([good, { ...good, id: "é".repeat(ID_BYTES_MAX / 2), payload: "x".repeat(PAYLOAD_BYTES_MAX) }]);
  const refused = (item: object, words: RegExp) =>
    assert.throws(() => checkItems([good, { ...good, ...item }]), words);
  refused({ priority: Number.NaN }, /priority NaN is not a finite number/);
  refused({ priority: Number.NEGATIVE_INFINITY }, /priority -Infinity/);
  refused({ id: "" }, /empty/);
  refused({ id: "é".repeat(ID_BYTES_MAX / 2 + 1) }, /id "é+"… has 258 bytes, at most 256/);
  refused({ payload: "x".repeat(PAYLOAD_BYTES_MAX + 1) }, /payload "x{80}"… has 65537 bytes/);
  refused({ payload: "half of \ud83d" }, /not well-formed/);
});

test("one call takes up to its limit of items and no more", () => {
  checkItemCount(ITEMS_MAX, "items");
  checkItemCount(0, "items");
  for (const count of [ITEMS_MAX + 1, -1, 1.5, Number.NaN])
    assert.throws(() => checkItemCount(count, "items"), /0 to 256/);
});
