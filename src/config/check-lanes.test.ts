import assert from "node:assert/strict";
import { test } from "node:test";
import { laneNumber } from "../core/lanes.ts";
import { checkLanes, noSuchLane } from "./check-lanes.ts";
import { roomSchema } from "./schema.ts";

function problemsOf(names: readonly string[]): string[] {
  const lanes = Object.fromEntries(names.map((name) => [name, { share: 1 }]));
  return checkLanes(roomSchema.parse({ lanes }), []).map(
    ({ path, message }) => `${path.join(".")}: ${message}`,
  );
}

/** Two names that make the same number; among 65,535 numbers a few hundred names are enough. */
function twins(): [string, string, number] {
  const seen = new Map<number, string>();
  for (let index = 0; ; index++) {
    const name = `lane-${index}`;
    const number = laneNumber(name);
    const other = seen.get(number);
    if (other !== undefined) return [other, name, number];
    seen.set(number, name);
  }
}

test("two names that make the same number are refused, and each is named", () => {
  const [first, second, number] = twins();
  assert.deepEqual(problemsOf([first, "vip", second]), [
    `lanes.${second}: lanes ${first} and ${second} cannot be told apart: their names make the same number, ${number}`,
  ]);
  assert.deepEqual(problemsOf([first, "vip"]), []);
});

test("a lane's name starts with a letter, since names that are numbers would not keep their order", () => {
  const { length } = problemsOf(["1", "2b", "a_b", "a-", "A", "__proto__", "a".repeat(33)]);
  // `__proto__` is no name of an entry: the language keeps it to itself.
  assert.equal(length, 6);
  assert.deepEqual(problemsOf(["a", "b2", "c-3", "a".repeat(32), "constructor"]), []);
});

test("sixteen lanes are enough", () => {
  const names = Array.from({ length: 17 }, (_, index) => `lane${index}`);
  assert.deepEqual(problemsOf(names.slice(1)), []);
  assert.deepEqual(problemsOf(names), ["lanes: lanes has 17 lanes"]);
});

test("shares may come to 99 together and no more", () => {
  const sharesOf = (vip: number, press: number) => {
    const lanes = { vip: { share: vip }, press: { share: press } };
    return checkLanes(roomSchema.parse({ lanes }), []).map(({ message }) => message);
  };
  assert.deepEqual(sharesOf(50, 49), []);
  assert.deepEqual(sharesOf(50, 50), [
    "the shares in lanes come to 100 together, which leaves nothing for everybody else",
  ]);
});

test("a lane that nobody can get into is refused", () => {
  const lanes = { vip: { members: { codes: false } } };
  assert.deepEqual(
    checkLanes(roomSchema.parse({ lanes }), ["rooms", "main"]).map(({ message }) => message),
    ["rooms.main.lanes.vip.members lets nobody into the lane"],
  );
});

test("a lane that is not there is answered with the nearest, or with those there are", () => {
  assert.deepEqual(noSuchLane("vpi", ["vip", "press"]), {
    message: 'there is no lane "vpi"',
    hint: "Did you mean vip?",
  });
  assert.equal(noSuchLane("gold", ["vip", "press"]).hint, "The room has vip, press.");
  assert.equal(noSuchLane("gold", []).hint, "The room has no lanes.");
  assert.doesNotMatch(noSuchLane("a\u001b[31m", []).message, /\u001b/);
});
