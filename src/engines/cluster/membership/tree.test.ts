import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Tree, treeOf } from "./tree.ts";

const nodes = fc.uniqueArray(fc.integer({ min: 0, max: 63 }), { minLength: 1, maxLength: 64, size: "max" });

/** Who can be reached from the root by going to children. */
function reachable(tree: Tree): number[] {
  const found = [tree.root];
  for (const node of found) found.push(...tree.childrenOf(node));
  return found;
}

test("one member is root, leaf and all", () => {
  const tree = treeOf([17]);
  assert.equal(tree.root, 17);
  assert.equal(tree.depth, 0);
  assert.equal(tree.parentOf(17), null);
  assert.deepEqual(tree.neighboursOf(17), []);
  assert.equal(tree.towards(17, 17), 17);
});

test("five members hang as in a heap", () => {
  const tree = treeOf([9, 2, 30, 4, 7]);
  assert.deepEqual(tree.childrenOf(2), [4, 7, 9]);
  assert.deepEqual(tree.childrenOf(4), [30]);
  assert.deepEqual(tree.neighboursOf(4), [2, 30]);
  assert.equal(tree.depth, 2);
  assert.equal(tree.towards(30, 9), 4);
  assert.equal(tree.towards(2, 30), 4);
});

test("any members form one tree: all are connected by one edge fewer than there are members", () => {
  fc.assert(
    fc.property(nodes, (members) => {
      const tree = treeOf(members);
      assert.deepEqual(
        reachable(tree).sort((a, b) => a - b),
        [...members].sort((a, b) => a - b),
      );
      const ends = members.flatMap((node) => tree.neighboursOf(node));
      assert.equal(ends.length, 2 * (members.length - 1));
      for (const node of members) {
        assert.equal(tree.root, Math.min(...members));
        for (const child of tree.childrenOf(node)) assert.equal(tree.parentOf(child), node);
        for (const other of tree.neighboursOf(node)) assert.ok(tree.neighboursOf(other).includes(node));
      }
    }),
  );
});

test("the tree is as shallow as three children each allow", () => {
  fc.assert(
    fc.property(nodes, (members) => {
      const levelsMax = Math.ceil(Math.log(2 * members.length + 1) / Math.log(3) - 1e-9);
      assert.equal(treeOf(members).depth + 1, levelsMax);
    }),
  );
});

test("the order of the members, and naming one twice, change nothing", () => {
  const mixed = nodes.chain((members) =>
    fc.tuple(
      fc.constant(members),
      fc.shuffledSubarray(members, { minLength: members.length }),
      fc.subarray(members),
    ),
  );
  fc.assert(
    fc.property(mixed, ([members, shuffled, again]) => {
      const tree = treeOf(members);
      const other = treeOf([...shuffled, ...again]);
      for (const node of members) assert.deepEqual(other.neighboursOf(node), tree.neighboursOf(node));
    }),
  );
});

test("every walk towards a member arrives, over edges of the tree, in few steps", () => {
  fc.assert(
    fc.property(nodes, fc.nat(), fc.nat(), (members, a, b) => {
      const tree = treeOf(members);
      let at = members[a % members.length]!;
      const to = members[b % members.length]!;
      let steps = 0;
      for (; at !== to; steps++) {
        assert.ok(steps <= 2 * tree.depth, "the walk is longer than any path");
        const next = tree.towards(at, to);
        assert.ok(tree.neighboursOf(at).includes(next));
        at = next;
      }
    }),
  );
});

test("no members, nodes that are none and strangers are refused", () => {
  assert.throws(() => treeOf([]), RangeError);
  for (const node of [-1, 64, 1.5, Number.NaN]) assert.throws(() => treeOf([1, node]), RangeError);
  const tree = treeOf([1, 2]);
  assert.equal(tree.has(3), false);
  assert.throws(() => tree.parentOf(3), RangeError);
  assert.throws(() => tree.towards(1, 3), RangeError);
});
