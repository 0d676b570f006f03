import assert from "node:assert/strict";
import { test } from "node:test";
import { Queue } from "./queue.ts";

test("items come out in their order, wherever others were removed", () => {
  const queue = new Queue<string>();
  const positions = ["a", "b", "c", "d"].map((item) => queue.push(item));
  queue.remove(positions[1]!);
  assert.deepEqual([...queue], ["a", "c", "d"]);
  queue.removeOldest();
  assert.equal(queue.oldest, "c");
  queue.removeOldest();
  queue.removeOldest();
  assert.equal(queue.oldest, null);
  assert.equal(queue.push("e"), 4);
  assert.deepEqual([...queue], ["e"]);
});

test("positions stay the same however many items have gone before", () => {
  const queue = new Queue<number>(1);
  for (let n = 1; n <= 10_000; n++) assert.equal(queue.push(n), n);
  for (let n = 1; n <= 9_000; n++) queue.remove(n);
  assert.equal(queue.oldest, 9_001);
  assert.deepEqual([...queue.from(9_998)], [9_998, 9_999, 10_000]);
  queue.remove(5);
  assert.equal(queue.next, 10_001);
});

test("a stored item goes to its own position, and those before it that are gone are skipped", () => {
  const queue = new Queue<string>(7);
  queue.putAt(7, "seven");
  queue.putAt(10, "ten");
  assert.deepEqual([...queue], ["seven", "ten"]);
  queue.removeOldest();
  assert.equal(queue.oldest, "ten");
  assert.equal(queue.push("eleven"), 11);
});
