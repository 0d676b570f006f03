import assert from "node:assert/strict";
import { test } from "node:test";
import { FairTurns } from "./fair-turns.ts";

const PER_TURN = 8;

/** Turns of the event loop, moved by hand. */
function scene() {
  const due: (() => void)[] = [];
  const turns = new FairTurns(PER_TURN, (work) => due.push(work));
  const done: string[] = [];
  const ask = (who: string, what = who) => turns.take(who, () => done.push(what));
  const turn = () => {
    for (const work of due.splice(0)) work();
  };
  return { ask, turn, done, isQuiet: () => due.length === 0 };
}

test("a little is done at once", () => {
  const { ask, turn, done, isQuiet } = scene();
  for (let n = 0; n < PER_TURN; n++) ask("one");
  assert.equal(done.length, PER_TURN);
  turn();
  assert.ok(isQuiet());
});

test("what is too much for one turn waits for the next ones, in order", () => {
  const { ask, turn, done, isQuiet } = scene();
  const all = Array.from({ length: 3 * PER_TURN }, (_, n) => `${n}`);
  for (const what of all) ask("one", what);
  assert.equal(done.length, PER_TURN);
  turn();
  assert.equal(done.length, 2 * PER_TURN);
  turn();
  assert.deepEqual(done, all);
  turn();
  assert.ok(isQuiet());
});

test("who asks for one thing does not wait behind hundreds of another's", () => {
  const { ask, turn, done } = scene();
  for (let n = 0; n < 100 * PER_TURN; n++) ask("greedy");
  ask("modest");
  assert.ok(!done.includes("modest"));
  turn();
  assert.ok(done.includes("modest"));
});

test("what comes while something waits does not overtake it", () => {
  const { ask, turn, done } = scene();
  for (let n = 0; n < PER_TURN + 1; n++) ask("one", "before");
  turn();
  for (let n = 0; n < PER_TURN; n++) ask("one", "then");
  ask("one", "last");
  turn();
  assert.equal(done.at(-1), "last");
});

test("work that asks for more work in its turn goes on in the next", () => {
  const { ask, turn, done, isQuiet } = scene();
  for (let n = 0; n < 2 * PER_TURN; n++) ask("one", `${n}`);
  ask("two");
  while (!isQuiet()) turn();
  assert.equal(done.length, 2 * PER_TURN + 1);
});
