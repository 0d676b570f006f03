import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EventLoop } from "./event-loop.ts";

test("work runs in the order of its instants, and work of one instant in the order it was queued", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (times) => {
      const loop = new EventLoop();
      const seen: { time: number; i: number }[] = [];
      times.forEach((time, i) => {
        loop.at(time, () => seen.push({ time: loop.time, i }));
      });
      loop.runUntil(100);
      const expected = times.map((time, i) => ({ time, i })).sort((a, b) => a.time - b.time || a.i - b.i);
      assert.deepEqual(seen, expected);
    }),
  );
});

test("work that is queued meanwhile takes its place among the rest", () => {
  const loop = new EventLoop();
  const seen: string[] = [];
  loop.at(10, () => {
    seen.push("a");
    loop.after(0, () => seen.push("c"));
    loop.at(3, () => seen.push("d, which was past"));
    loop.after(5, () => seen.push("e"));
  });
  loop.at(10, () => seen.push("b"));
  loop.at(16, () => seen.push("f"));
  loop.runUntil(15);
  assert.deepEqual(seen, ["a", "b", "c", "d, which was past", "e"]);
  assert.equal(loop.time, 15);
  assert.equal(loop.done, 5);
  assert.equal(loop.isEmpty, false);
});

test("it stops as soon as it is told to", () => {
  const loop = new EventLoop();
  let count = 0;
  for (let i = 1; i <= 10; i++) loop.at(i, () => count++);
  loop.runUntil(100, () => count === 4);
  assert.equal(count, 4);
  assert.equal(loop.time, 4);
});

test("an invalid instant is a mistake", () => {
  assert.throws(() => new EventLoop().at(Number.NaN, () => {}), RangeError);
});
