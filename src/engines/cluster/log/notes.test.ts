import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Notes, type NotesBody } from "./notes.ts";

/** Hands over what is in the outbox, but for what `isLost` says. */
function deliver(
  nodes: Readonly<Record<string, Notes>>,
  isLost: (to: string) => boolean = () => false,
): void {
  for (const node of Object.values(nodes))
    for (const { to, body } of node.takeOutbox()) if (!isLost(to)) nodes[to]!.receive(structuredClone(body));
}

function nodesOf(...names: string[]): Record<string, Notes> {
  const nodes = Object.fromEntries(names.map((name) => [name, new Notes(name)]));
  for (const [name, notes] of Object.entries(nodes))
    notes.start(
      names.filter((other) => other !== name),
      0,
    );
  return nodes;
}

const valueIn = (notes: Notes | undefined, name: string) => notes?.all.get(name)?.value;

test("what one node keeps, all learn, and are told of once", () => {
  const nodes = nodesOf("a", "b", "c");
  nodes.a!.keep("room", { paused: true }, 5);
  deliver(nodes);
  deliver(nodes);
  for (const notes of Object.values(nodes)) {
    assert.deepEqual(valueIn(notes, "room"), { paused: true });
    assert.deepEqual(notes.takeChanged(), ["room"]);
    assert.deepEqual(notes.takeChanged(), []);
  }
});

test("the last write wins, by the writers' clocks, then by their names, in whatever order it arrives", () => {
  const note = fc.record({
    name: fc.constantFrom("x", "y"),
    value: fc.nat({ max: 9 }),
    at: fc.nat({ max: 3 }),
    by: fc.constantFrom("a", "b", "c"),
  });
  // A writer says one thing at one instant.
  const notes = fc.uniqueArray(note, { selector: ({ name, at, by }) => `${name}${at}${by}` });
  const twice = notes.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
  );
  fc.assert(
    fc.property(twice, ([list, shuffled]) => {
      const [one, other] = [new Notes("one"), new Notes("other")];
      one.receive({ kind: "notes", notes: list });
      for (const single of shuffled) other.receive({ kind: "notes", notes: [single] });
      for (const name of ["x", "y"]) {
        assert.equal(valueIn(one, name), valueIn(other, name));
        const [last] = list
          .filter((known) => known.name === name)
          .sort((a, b) => b.at - a.at || (a.by < b.by ? 1 : -1));
        assert.equal(valueIn(one, name), last?.value);
      }
    }),
  );
});

test("a node that missed a note gets it later, from any node that has it", () => {
  const nodes = nodesOf("a", "b", "c");
  nodes.a!.keep("room", 1, 5);
  deliver(nodes, (to) => to === "c");
  assert.equal(valueIn(nodes.c, "room"), undefined);
  for (let now = 2_000; now <= 4_000; now += 2_000) {
    nodes.b!.tick(now);
    deliver(nodes);
  }
  assert.equal(valueIn(nodes.c, "room"), 1);
});

test("new nodes are told everything, and no empty messages are sent", () => {
  const nodes = nodesOf("a", "b");
  assert.deepEqual(nodes.a!.takeOutbox(), []);
  nodes.a!.keep("room", 1, 5);
  deliver(nodes);
  const c = new Notes("c");
  c.start(["a", "b"], 0);
  nodes.a!.start(["b", "c"], 0);
  deliver({ ...nodes, c });
  assert.equal(valueIn(c, "room"), 1);
});

test("a lone node never has anything to do", () => {
  const notes = new Notes("a");
  notes.start([], 0);
  notes.keep("room", 1, 5);
  notes.tick(1e9);
  assert.equal(notes.nextAt(), Number.POSITIVE_INFINITY);
  assert.deepEqual(notes.takeOutbox(), []);
});

test("the number of notes is limited, but known ones can still change", () => {
  const notes = new Notes("a");
  for (let i = 0; i < 10_001; i++) notes.keep(`n${i}`, i, 1);
  assert.equal(notes.all.size, 10_000);
  notes.keep("n0", "new", 2);
  assert.equal(valueIn(notes, "n0"), "new");
});

test("a malformed note is ignored, and the others of its message are not", () => {
  const notes = new Notes("a");
  for (const list of [null, 7, "notes", undefined]) notes.receive({ kind: "notes", notes: list } as never);
  const hostile = [null, 1, {}, { name: 1, at: 1, by: "b" }, { name: "x", at: Number.NaN, by: "b" }];
  const good = { name: "good", value: 1, at: 1, by: "b" };
  notes.receive({ kind: "notes", notes: [...hostile, good] } as unknown as NotesBody);
  assert.deepEqual([...notes.all.keys()], ["good"]);
});
