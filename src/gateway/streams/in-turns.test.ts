import assert from "node:assert/strict";
import { test } from "node:test";
import { InTurns, STREAMS_PER_TURN } from "./in-turns.ts";

test("the first are served at once and the others turn by turn, each once, and then it is done", () => {
  const turns: (() => void)[] = [];
  const inTurns = new InTurns((work) => turns.push(work));
  const items = Array.from({ length: 2 * STREAMS_PER_TURN + 1 }, (_, at) => at);
  const served: number[] = [];
  let isDone = false;
  inTurns.forEach(
    items,
    (item) => served.push(item),
    () => {
      isDone = true;
    },
  );
  const seen = [served.length];
  while (turns.length > 0) {
    assert.equal(isDone, false);
    turns.shift()!();
    seen.push(served.length);
  }
  assert.deepEqual(seen, [STREAMS_PER_TURN, 2 * STREAMS_PER_TURN, items.length]);
  assert.deepEqual([served, isDone], [items, true]);
});

test("nothing to serve is done at once", () => {
  let isDone = false;
  new InTurns(() => assert.fail()).forEach(
    [],
    () => assert.fail(),
    () => {
      isDone = true;
    },
  );
  assert.equal(isDone, true);
});
