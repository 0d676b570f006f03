import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SetBacks } from "./set-backs.ts";

const KEY = 64 * 1_000_000;
const nobody = () => false;

/** A place goes behind that key; gives its number. */
function setBack(backs: SetBacks, key: number, behind: number, missedTurns = 1): number {
  const sequence = backs.next(behind, nobody);
  return backs.tell(key, { sequence, behind, missedTurns, missedAt: 1 })!.sequence;
}

test("numbers behind a key follow each other, whatever has become of those before", () => {
  const backs = new SetBacks();
  const [first, second, third] = [1, 2, 3].map((key) => setBack(backs, key, KEY)) as [number, number, number];
  assert.ok(KEY < first && first < second && second < third && third < KEY + 64);
  assert.equal(backs.keyOf(second), 2);
  backs.forget(2);
  assert.equal(backs.keyOf(second), second);
  assert.ok(backs.next(KEY, nobody) > third);
  assert.ok(backs.next(KEY + 64, nobody) > KEY + 64);
});

test("the report with the most missed turns is right, in whatever order it arrives", () => {
  const told = [1, 2, 3].map((missedTurns) => ({
    sequence: KEY + missedTurns,
    behind: KEY,
    missedTurns,
    missedAt: 1,
  }));
  for (const order of [
    [0, 1, 2],
    [2, 0, 1],
    [1, 2, 0],
  ]) {
    const backs = new SetBacks();
    for (const index of order) backs.tell(7, told[index]!);
    assert.deepEqual(backs.get(7), told[2]);
    assert.deepEqual([backs.keyOf(KEY + 3), backs.keyOf(KEY + 2)], [7, KEY + 2]);
  }
});

test("no two members give out the same number, and none a key, however many there are", () => {
  const nodes = fc.uniqueArray(fc.nat({ max: 63 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(nodes, fc.nat({ max: 63 }), fc.integer({ min: 1, max: 12 }), (members, nodeOfKey, count) => {
      const given = new Set<number>();
      const behind = KEY + nodeOfKey;
      for (const node of members) {
        const backs = new SetBacks();
        backs.share(node, members);
        for (let n = 1; n <= count; n++) {
          const sequence = setBack(backs, n, behind);
          assert.ok(!given.has(sequence) && sequence > behind);
          // With more members than numbers between keys, one's own keys are used, as far as they are free.
          if (members.length <= 32) assert.ok(!members.includes(sequence % 64));
          given.add(sequence);
        }
      }
    }),
  );
});

test("a number in use is skipped, and one that is told twice is not two places", () => {
  const backs = new SetBacks();
  assert.equal(
    backs.next(KEY, (sequence) => sequence === KEY + 1),
    KEY + 2,
  );
  const told = { sequence: KEY + 5, behind: KEY, missedTurns: 1, missedAt: 1 };
  const [one, other] = [backs.tell(1, told)!, backs.tell(2, told)!];
  assert.notEqual(one.sequence, other.sequence);
  assert.deepEqual([backs.keyOf(one.sequence), backs.keyOf(other.sequence)], [1, 2]);
});
