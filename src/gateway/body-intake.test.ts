import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../sim/hand-world.ts";
import { BodyIntake, type BodyOutcome, declaredLength } from "./body-intake.ts";
import { Memory } from "./proxy/slow-visitors.ts";

function stage({ bytesMax = 10, memoryBytes = 100 } = {}) {
  const world = handWorld();
  const memory = new Memory(() => memoryBytes);
  const underWay = new Set<BodyIntake>();
  const another = () => {
    const settled: BodyOutcome[] = [];
    const over: boolean[] = [];
    const intake = new BodyIntake({
      ...{ bytesMax, memory, underWay, world },
      limits: { bodyPace: 10, paceWindowMs: 1_000 },
      settle: (outcome) => settled.push(outcome),
      over: (isGivenUp) => over.push(isGivenUp),
    });
    const text = () => settled.map((one) => (typeof one === "string" ? one : Buffer.from(one).toString()));
    return { intake, over, text };
  };
  return { world, memory, another, ...another() };
}

test("a body is gathered from its pieces, and its memory is given back", () => {
  const { intake, memory, over, text } = stage();
  intake.begin(5);
  intake.take(Buffer.from("ab"));
  intake.take(Buffer.from("cde"));
  assert.equal(memory.taken, 5);
  intake.end();
  intake.end();
  intake.cut();
  assert.deepEqual([text(), over, memory.taken, intake.isOver], [["abcde"], [false], 0, true]);
});

test("no body at all is an empty one", () => {
  const { intake, text } = stage();
  intake.begin(null);
  intake.end();
  assert.deepEqual(text(), [""]);
});

test("one that is too large is refused by its head, or as soon as it is too large", () => {
  const byHead = stage();
  byHead.intake.begin(11);
  assert.deepEqual(byHead.text(), ["tooLarge"]);
  const byBody = stage();
  byBody.intake.take(Buffer.alloc(10));
  byBody.intake.take(Buffer.alloc(1));
  byBody.intake.take(Buffer.alloc(1));
  byBody.intake.end();
  assert.deepEqual([byBody.text(), byBody.memory.taken], [["tooLarge"], 0]);
});

test("one that comes too slowly is refused, and one that comes fast enough is not", () => {
  const { intake, world, text } = stage();
  for (let second = 0; second < 3; second++) {
    intake.take(Buffer.alloc(2));
    world.pass(200);
  }
  assert.deepEqual(text(), []);
  world.pass(1_000);
  assert.deepEqual(text(), ["tooSlow"]);
});

test("where all bodies together have no memory left, one more is refused", () => {
  const { intake, memory, text } = stage({ memoryBytes: 4 });
  memory.take(2);
  intake.take(Buffer.alloc(2));
  intake.take(Buffer.alloc(1));
  assert.deepEqual([text(), memory.taken], [["noMemory"], 2]);
});

test("bodies that stand still keep no memory from one that comes", () => {
  const first = stage({ memoryBytes: 10 });
  first.intake.take(Buffer.alloc(5));
  const second = first.another();
  second.intake.take(Buffer.alloc(5));
  const third = first.another();
  third.intake.take(Buffer.from("abc"));
  third.intake.end();
  assert.deepEqual([first.text(), second.text(), third.text()], [["noMemory"], [], ["abc"]]);
  assert.equal(first.memory.taken, 5);
});

test("whose sender is gone settles nothing", () => {
  const { intake, world, over, memory, text } = stage();
  intake.take(Buffer.alloc(2));
  intake.cut();
  world.pass(10_000);
  assert.deepEqual([text(), over, memory.taken], [[], [true], 0]);
});

test("a length counts where it is one", () => {
  assert.deepEqual(["5", "0", "", "-1", "1e3", "9".repeat(20), undefined].map(declaredLength), [
    ...[5, 0, null, null, null, null, null],
  ]);
});
