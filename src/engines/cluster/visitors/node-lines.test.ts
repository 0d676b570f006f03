import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeLines } from "./node-lines.ts";

test("keys of one lane are counted up to a key, whether or not it is there", () => {
  const lines = new NodeLines();
  for (const key of [30, 10]) lines.add(0, key);
  for (const key of [20, 5]) lines.add(7, key);
  assert.equal(lines.countUpTo(7, 20), 2);
  assert.equal(lines.countUpTo(7, 19), 1);
  assert.equal(lines.countUpTo(3, 19), 0);
  assert.equal(lines.first(), 5);
});
