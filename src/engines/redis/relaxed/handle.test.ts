import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../../../sim/hand-world.ts";
import { handleOf, newToken, readHandle } from "./handle.ts";

test("a handle says what it was made of, whatever the id is", () => {
  const { random } = handWorld({ seed: 3 });
  for (const id of ["a", "with.dots.in", "line\nbreak", "3.0123456789abcdef.x", "ü 🙂"]) {
    const taking = { shard: 11, token: newToken(random), id };
    assert.deepEqual(readHandle(handleOf(taking), 12), taking);
  }
});

test("tokens differ", () => {
  const { random } = handWorld({ seed: 3 });
  assert.equal(new Set(Array.from({ length: 1_000 }, () => newToken(random))).size, 1_000);
});

test("what is no handle of this queue is refused", () => {
  const token = "0123456789abcdef";
  readHandle(`3.${token}.x`, 4);
  for (const wrong of [
    "",
    "x",
    `4.${token}.x`,
    `3.${token}.`,
    `3.${token}`,
    `-1.${token}.x`,
    `3.${token.slice(1)}.x`,
  ])
    assert.throws(() => readHandle(wrong, 4), /no handle of a queue with 4 shards/, wrong);
});
