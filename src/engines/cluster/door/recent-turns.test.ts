import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentTurns } from "./recent-turns.ts";

test("turns of later rounds count, and within one round those further behind, in whatever order they are told", () => {
  const turns = new RecentTurns();
  for (const [at, sequence] of [
    [20, 7],
    [10, 3],
    [10, 1],
    [30, 4],
    [10, 2],
    [20, 5],
  ] as const)
    turns.note(0, at, sequence);
  turns.note(9, 40, 8);
  const after = (at: number, sequence: number) => turns.after(0, { at, sequence }, false);
  assert.deepEqual([after(10, 1), after(10, 2), after(10, 3), after(20, 5), after(30, 4)], [5, 4, 3, 2, 0]);
  assert.equal(turns.after(7, { at: 0, sequence: 0 }, false), 0);
});

test("with random order, the turns of one round are in the order they were told", () => {
  const turns = new RecentTurns();
  for (const sequence of [5, 1, 9]) turns.note(0, 10, sequence);
  assert.deepEqual(
    [5, 1, 9].map((sequence) => turns.after(0, { at: 10, sequence }, true)),
    [2, 1, 0],
  );
});

test("old turns are forgotten", () => {
  const turns = new RecentTurns();
  turns.note(0, 0, 1);
  turns.note(0, 3_600_000, 2);
  turns.forget(3_600_000);
  assert.equal(turns.after(0, { at: -1, sequence: 0 }, false), 1);
});
