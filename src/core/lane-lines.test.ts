import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LaneLines } from "./lane-lines.ts";
import { Line } from "./line.ts";

function linesOf(lanes: Readonly<Record<number, readonly number[]>>): LaneLines<Line> {
  const lines = new LaneLines(() => new Line());
  for (const [lane, keys] of Object.entries(lanes)) for (const key of keys) lines.add(Number(lane), key);
  return lines;
}

test("each lane has its own order, and together they have one first", () => {
  const lines = linesOf({ 0: [30, 10], 7: [20, 5] });
  assert.equal(lines.size, 4);
  assert.equal(lines.first(), 5);
  assert.equal(lines.at(0, 0), 10);
  assert.equal(lines.ahead(0, 30), 1);
});

test("what is added twice is there once, and what is not there can be removed", () => {
  const lines = linesOf({ 0: [1, 1] });
  assert.equal(lines.size, 1);
  lines.remove(0, 2);
  lines.remove(9, 1);
  assert.equal(lines.size, 1);
});

test("lanes and ranks that nobody is in have answers too", () => {
  const lines = linesOf({ 0: [1] });
  assert.equal(lines.waitingIn(3), 0);
  assert.equal(lines.ahead(3, 1), 0);
  for (const [lane, rank] of [
    [3, 0],
    [0, 1],
    [0, -1],
  ] as const)
    assert.equal(lines.at(lane, rank), -1);
  assert.equal(linesOf({}).first(), null);
});

test("who is put into a lane is in no other", () => {
  const lines = linesOf({ 0: [1, 2], 7: [3] });
  lines.put(7, 1);
  lines.put(null, 3);
  assert.equal(lines.waitingIn(0), 1);
  assert.equal(lines.at(7, 0), 1);
  assert.equal(lines.size, 2);
});

test("when everyone is put into other lanes nobody is lost", () => {
  const keys = fc.uniqueArray(fc.nat({ max: 1_000 }));
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 4 }), (all, lanes) => {
      const lines = linesOf({ 0: all });
      lines.rearrange((key) => key % lanes);
      assert.equal(lines.size, all.length);
      for (let lane = 0; lane < lanes; lane++) {
        const own = all.filter((key) => key % lanes === lane).sort((a, b) => a - b);
        assert.deepEqual(
          own.map((_, rank) => lines.at(lane, rank)),
          own,
        );
      }
    }),
  );
});
