import assert from "node:assert/strict";
import { test } from "node:test";
import { seededFraction } from "../../../sim/hand-world.ts";
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

test("how many are before a position is told, wherever others were removed or come again", () => {
  const queue = new Queue<number>(3);
  const has = new Set<number>();
  const fraction = seededFraction(1);
  const below = (limit: number) => Math.floor(fraction() * limit);
  for (let n = 0; n < 5_000; n++) {
    if (n % 50 === 0) queue.putAt(queue.next + below(700), n);
    else queue.push(n);
    has.add(queue.next - 1);
    for (const position of has) {
      if (below(3) > 0) break;
      queue.remove(position);
      queue.remove(position);
      has.delete(position);
    }
    if (n % 100 > 0) continue;
    const asked = queue.next - below(2_000);
    assert.equal(queue.before(asked), [...has].filter((position) => position < asked).length);
  }
});
