import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  committed,
  foundingView,
  idOf,
  isView,
  leads,
  merged,
  NODES_MAX,
  type View,
  viewNumber,
  withMember,
  withoutDead,
  withoutLost,
} from "./view.ts";

const node = (name: string, life = 1) => ({ name, life, address: `${name}:7000` });

/** A cluster that all of these have joined, one after the other, and know of. */
function clusterOf(...names: string[]): View {
  let view = foundingView(node(names[0]!));
  for (const name of names.slice(1)) view = committed(withMember(view, node(name), 0)!);
  return view;
}

const losing = (view: View, ...names: string[]) =>
  withoutLost(view, new Set(names.map((name) => `${name}#1`)), 0);
const namesIn = (members: View["members"]) => members.map(({ name }) => name).join("");
const numbersIn = (members: View["members"]) =>
  Object.fromEntries(members.map(({ name, number }) => [name, number]));

test("a founder is alone, with number 0, and the majority", () => {
  const view = foundingView(node("a"));
  assert.deepEqual(view.members, [{ ...node("a"), number: 0 }]);
  assert.equal(view.isMajority, true);
});

test("a cluster can lose its members one after the other, down to the last", () => {
  let view = clusterOf("a", "b", "c", "d", "e");
  for (const name of ["e", "d", "c", "b"]) {
    view = committed(losing(view, name));
    assert.equal(view.isMajority, true, `after losing ${name}`);
  }
  assert.equal(namesIn(view.members), "a");
  assert.equal(namesIn(view.lost), "bcde");
});

test("as long as it is not known that all have a view, those of the view before it vote as well", () => {
  const first = losing(clusterOf("a", "b", "c", "d", "e"), "e");
  const second = losing(first, "d");
  assert.equal(second.isMajority, true);
  assert.equal(losing(second, "c").isMajority, false, "two of five, who may all still be there");
  assert.equal(losing(committed(second), "c").isMajority, true);
});

test("of two halves the one with the first member is the majority", () => {
  const view = clusterOf("a", "b", "c", "d");
  assert.equal(losing(view, "c", "d").isMajority, true);
  assert.equal(losing(view, "a", "b").isMajority, false);
  assert.equal(losing(view, "a").isMajority, true, "three of four need no first");
});

test("a part without the majority does not get it by agreeing with itself", () => {
  const part = committed(losing(clusterOf("a", "b", "c"), "a", "b"));
  assert.equal(part.isMajority, false);
  assert.equal(losing(part).isMajority, false);
});

test("members that are proved dead do not vote", () => {
  const part = losing(clusterOf("a", "b", "c"), "a", "b");
  assert.equal(withoutDead(part, ["a#1"], 2).isMajority, false, "one of two, and not the first");
  assert.equal(withoutDead(part, ["a#1", "b#1"], 2).isMajority, true);
});

test("a new life of a node takes its number, and the old one is over", () => {
  const view = losing(clusterOf("a", "b", "c"), "b");
  const back = withMember(view, node("b", 2), 0)!;
  assert.deepEqual(numbersIn(back.members), { a: 0, b: 1, c: 2 });
  assert.deepEqual(back.lost, []);
  assert.equal(back.members[1]!.life, 2);
});

test("the number of a lost member is given to no other, and that of a dead one not soon", () => {
  const view = withMember(losing(clusterOf("a", "b", "c"), "b"), node("d"), 0)!;
  assert.deepEqual(numbersIn(view.members), { a: 0, c: 2, d: 3 });
  let later = withoutDead(view, ["b#1"], 0);
  for (let number = 4; number < NODES_MAX; number++) {
    later = withMember(later, node(`n${number}`), 0)!;
    assert.equal(numbersIn(later.members)[`n${number}`], number);
  }
  assert.equal(numbersIn(withMember(later, node("last"), 0)!.members).last, 1, "when all others are taken");
});

test("no node is taken in when all numbers are in use, but a new life of a member is", () => {
  const view = clusterOf(...Array.from({ length: NODES_MAX }, (_, i) => `n${i}`));
  assert.equal(view.members.length, NODES_MAX);
  assert.equal(withMember(view, node("more"), 0), null);
  assert.equal(withMember(losing(view, "n7"), node("more"), 0), null);
  assert.equal(withMember(view, node("n7", 2), 0)?.members.length, NODES_MAX);
});

test("two parts that meet merge, with no member lost", () => {
  const view = clusterOf("a", "b", "c", "d", "e");
  const [large, small] = [losing(view, "d", "e"), withoutLost(view, new Set(["a#1", "b#1", "c#1"]), 3)];
  assert.ok(leads(large, small) && !leads(small, large));
  const one = merged(large, small, 0);
  assert.equal(namesIn(one.members), "abcde");
  assert.deepEqual(one.lost, []);
  assert.equal(one.isMajority, true);
  assert.ok(viewNumber(one) > Math.max(viewNumber(large), viewNumber(small)));
});

test("when two parts gave one number to two members, the leading part's member keeps it", () => {
  const view = clusterOf("a", "b", "c");
  const large = withMember(losing(view, "c"), node("new"), 0)!;
  const small = withMember(withoutLost(view, new Set(["a#1", "b#1"]), 2), node("other"), 2)!;
  assert.equal(numbersIn(large.members).new, numbersIn(small.members).other, "the test is about a conflict");
  assert.deepEqual(numbersIn(merged(large, small, 0).members), { a: 0, b: 1, c: 2, new: 3, other: 4 });
});

test("of two lives of one node the later is a member, whichever part it is in", () => {
  const view = clusterOf("a", "b", "c");
  const reborn = withMember(losing(view, "c"), node("c", 2), 0)!;
  const old = withoutLost(view, new Set(["a#1", "b#1"]), 2);
  for (const one of [merged(reborn, old, 0), merged(old, reborn, 2)])
    assert.deepEqual(
      [...one.members, ...one.lost].filter(({ name }) => name === "c").map(({ life }) => life),
      [2],
    );
});

test("parts without the majority that meet need that of every view either of them knows of", () => {
  const view = clusterOf("a", "b", "c", "d", "e");
  const large = committed(losing(view, "d", "e"));
  const pair = committed(losing(large, "a"));
  assert.equal(losing(pair, "c").isMajority, true, "b goes on by itself");
  const small = { ...losing(view, "a", "b", "c"), version: 50 };
  const three = merged(small, losing(large, "b", "c"), 3);
  const four = merged(three, losing(pair, "b"), 3);
  assert.equal(namesIn(four.members), "acde");
  assert.equal(four.isMajority, false, "four of five, and yet b is the cluster");
});

test("views are in one order: by version, then by who made them", () => {
  const numbers = [
    { version: 1, maker: 0 },
    { version: 1, maker: 63 },
    { version: 2, maker: 0 },
    { version: 3, maker: 5 },
  ].map(viewNumber);
  assert.deepEqual(
    [...new Set(numbers)].sort((a, b) => a - b),
    numbers,
  );
});

type Step = { readonly kind: "split" | "merge" | "commit"; readonly a: number; readonly b: number };

/** A cluster's parts after one more thing has happened to them. */
function after(parts: readonly View[], { kind, a, b }: Step): View[] {
  const at = a % parts.length;
  const one = parts[at]!;
  const rest = parts.filter((_, index) => index !== at);
  if (kind === "commit") return [...rest, committed(one)];
  if (kind === "merge") {
    const other = rest[b % Math.max(1, rest.length)];
    if (!other) return [...parts];
    const [leading, led] = leads(one, other) ? [one, other] : [other, one];
    return [...rest.filter((part) => part !== other), merged(leading, led, leading.members[0]!.number)];
  }
  const left = one.members.filter((_, index) => (b >> index) & 1);
  const right = one.members.filter((_, index) => !((b >> index) & 1));
  if (left.length === 0 || right.length === 0) return [...parts];
  const without = (gone: View["members"], maker: number) => withoutLost(one, new Set(gone.map(idOf)), maker);
  return [...rest, without(right, left[0]!.number), without(left, right[0]!.number)];
}

test("however a cluster is cut and put together again, no two parts ever have the majority", () => {
  const step = fc.record({
    kind: fc.constantFrom<Step["kind"]>("split", "split", "merge", "commit"),
    a: fc.nat(),
    b: fc.nat({ max: 127 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 7 }), fc.array(step, { maxLength: 20 }), (size, steps) => {
      let parts = [clusterOf(..."abcdefg".slice(0, size))];
      for (const one of steps) {
        parts = after(parts, one);
        const having = parts.filter(({ isMajority }) => isMajority).map(({ members }) => namesIn(members));
        assert.ok(having.length <= 1, having.join(" and "));
      }
    }),
    { numRuns: 500 },
  );
});

test("a malformed view is rejected", () => {
  const view = losing(clusterOf("a", "b"), "b");
  assert.ok(isView(structuredClone(view)));
  const wrong: unknown[] = [
    ...[null, undefined, 7, "view", [], {}],
    { ...view, version: 1.5 },
    { ...view, maker: 64 },
    { ...view, members: [] },
    { ...view, members: [null] },
    { ...view, members: [{ ...view.members[0], number: -1 }] },
    { ...view, members: [{ ...view.members[0], life: "1" }] },
    { ...view, members: new Array(65).fill(view.members[0]) },
    { ...view, lost: undefined },
    { ...view, bases: [[1]] },
    { ...view, bases: ["a#1"] },
    { ...view, isMajority: 1 },
    { ...view, lastNumber: 64 },
  ];
  for (const value of wrong) assert.equal(isView(value), false, JSON.stringify(value));
});
