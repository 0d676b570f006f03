import assert from "node:assert/strict";
import { test } from "node:test";
import { ANSWERS_PER_TURN, AnswerTurns, TURN_BYTES, type TurnTaker, UNTROUBLED_MAX } from "./turns.ts";

/** Turns of an event loop that the test moves by hand. */
function byHand() {
  const due: (() => void)[] = [];
  const turns = new AnswerTurns((work) => due.push(work));
  const took: number[] = [];
  const takers = Array.from({ length: 2 * ANSWERS_PER_TURN + 1 }, (_, n): TurnTaker => {
    return { takeTurn: () => took.push(n) };
  });
  /** Lets a turn of the loop pass, and tells who had theirs in it. */
  const pass = () => {
    due.shift()?.();
    return took.splice(0);
  };
  return { turns, takers, due, pass };
}

test("a few answers go on in each turn of the loop, in the order they came", () => {
  const { turns, takers, due, pass } = byHand();
  for (const taker of takers) turns.wait(taker);
  const order = [pass(), pass(), pass()];
  assert.deepEqual(
    order.map(({ length }) => length),
    [ANSWERS_PER_TURN, ANSWERS_PER_TURN, 1],
  );
  assert.deepEqual(order.flat(), [...takers.keys()]);
  assert.equal(due.length, 0, "nothing is due when nobody waits");
});

test("an answer that waits again at once comes after all others", () => {
  const { turns, takers, pass } = byHand();
  const greedy = { takeTurn: () => turns.wait(greedy) };
  for (const taker of [greedy, ...takers.slice(0, ANSWERS_PER_TURN)]) turns.wait(taker);
  assert.equal(pass().length, ANSWERS_PER_TURN - 1);
  assert.deepEqual(pass(), [ANSWERS_PER_TURN - 1]);
});

test("an answer that is over before its turn has none", () => {
  const { turns, takers, pass } = byHand();
  for (const taker of takers.slice(0, 3)) turns.wait(taker);
  turns.giveUp(takers[1]!);
  assert.deepEqual(pass(), [0, 2]);
});

test("only what many answers pass on beyond the limit of one turn has to wait", () => {
  const { turns, pass } = byHand();
  const half = TURN_BYTES / 2;
  for (let n = 0; n <= UNTROUBLED_MAX; n++) turns.enter();
  assert.deepEqual([turns.spend(half - 1), turns.spend(half), turns.spend(half)], [true, true, false]);
  pass();
  assert.equal(turns.spend(half), true, "a new turn");
  turns.leave();
  assert.equal(turns.spend(2 * TURN_BYTES), true, "a few are left alone");
});
