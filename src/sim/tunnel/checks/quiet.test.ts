import assert from "node:assert/strict";
import { test } from "node:test";
import { treeOf } from "../../../engines/cluster/membership/tree.ts";
import type { RoomStatus } from "../sim-node.ts";
import { type NodeLook, type QuietTruth, quietComplaint } from "./quiet.ts";

const NAMES = ["a", "b", "c", "d", "e"];
const ANY = { least: 0, most: 1_000 };
const TRUTH: QuietTruth = { room: "main", totalActiveUsers: 50, waiting: ANY, onSite: ANY };

/** Five nodes at rest: `e` has the smallest key and is the root; each has ten waiting, two visits and some slots. */
function looks(): NodeLook[] {
  const members = NAMES.map((name, number) => ({ number, name, life: 1, address: name }));
  const tree = treeOf(members.map(({ number }) => number));
  return members.map(({ number, name }) => ({
    name,
    life: 1,
    number,
    view: { version: 9, members, lost: [], isMajority: true },
    isRoot: number === 4,
    pointer: number === 4 ? null : tree.towards(number, 4),
    isSettled: true,
    rooms: { main: { ownFirst: 100 - number, ownWaiting: 10, turns: 3, visits: 2, spare: 5, waiting: 50 } },
    counted: { waiting: 50, onSite: 10 },
  }));
}

/** The same with one node otherwise. */
function but(index: number, change: (look: NodeLook) => Partial<NodeLook>): NodeLook[] {
  return looks().map((look, i) => (i === index ? { ...look, ...change(look) } : look));
}

function roomBut(index: number, change: Partial<RoomStatus>): NodeLook[] {
  return but(index, ({ rooms }) => ({ rooms: { main: { ...rooms.main!, ...change } } }));
}

function complaint(nodes: NodeLook[], truth: Partial<QuietTruth> = {}): string | null {
  const found = quietComplaint(nodes, { ...TRUTH, ...truth });
  return found && `${found.check}: ${found.text}`;
}

test("a cluster at rest that is right gives no cause for complaint", () => {
  assert.equal(complaint(looks()), null);
});

test("all have the same view, of the nodes that are up", () => {
  assert.match(complaint(but(2, () => ({ view: null })))!, /^one view: c is not a member/);
  assert.match(
    complaint(but(2, ({ view }) => ({ view: { ...view!, version: 8 } })))!,
    /^one view: c is in view 8/,
  );
  assert.match(
    complaint(looks().slice(0, 4))!,
    /^one view: a has a view of a#1, b#1, c#1, d#1, e#1, and up are/,
  );
  assert.match(complaint(but(0, () => ({ life: 2 })))!, /^one view: /);
});

test("there is one root, and all pointers lead to it along the tree", () => {
  assert.match(complaint(but(4, () => ({ isRoot: false, pointer: 1 })))!, /^tree: there is no root/);
  assert.match(complaint(but(0, () => ({ isRoot: true })))!, /^tree: a and e are roots together/);
  assert.match(complaint(but(2, () => ({ pointer: 3 })))!, /^tree: c points to node 3/);
  assert.match(complaint(but(2, () => ({ pointer: null })))!, /^tree: c points nowhere/);
  assert.match(complaint(but(1, () => ({ pointer: 0 })))!, /^tree: the pointers from a never reach the root/);
});

test("the root has the smallest key; when nobody waits it may be anywhere", () => {
  assert.match(
    complaint(roomBut(1, { ownFirst: 7 }))!,
    /^smallest key at the root: e .* has 96 first, but 7/,
  );
  assert.match(complaint(roomBut(4, { ownFirst: null }))!, /^smallest key at the root: e .* has null first/);
  const empty = looks().map((look) => ({
    ...look,
    rooms: { main: { ...look.rooms.main!, ownFirst: null } },
  }));
  assert.equal(complaint(empty), null);
});

const torn = (nodes: NodeLook[]) =>
  nodes.map((look) => ({ ...look, view: { ...look.view!, lost: [{ number: 7, name: "z", life: 1 }] } }));

test("every node counts the same, what all have together, and what is seen from outside", () => {
  const counting = (waiting: number, onSite: number) => but(3, () => ({ counted: { waiting, onSite } }));
  assert.match(complaint(counting(49, 10))!, /^counts: d counts 49 waiting, others 50/);
  assert.match(complaint(counting(50, 9))!, /^counts: d counts 9 on site, others 10/);
  assert.match(
    complaint(roomBut(3, { ownWaiting: 11 }))!,
    /^counts: all count 50 waiting, and have 51 together/,
  );
  assert.match(complaint(roomBut(3, { visits: 1 }))!, /^counts: all count 10 on site, and have 9 together/);
  assert.match(
    complaint(looks(), { waiting: { least: 51, most: 60 } })!,
    /^counts: all count 50 waiting, and seen/,
  );
  assert.match(
    complaint(looks(), { onSite: { least: 0, most: 9 } })!,
    /^counts: all count 10 on site, and seen/,
  );
});

test("while a part is lost no node has its visits, but all count the same", () => {
  assert.equal(complaint(torn(roomBut(3, { visits: 1 }))), null);
  assert.match(
    complaint(torn(but(3, () => ({ counted: { waiting: 50, onSite: 9 } }))))!,
    /^counts: d counts 9/,
  );
});

test("there are no more slots than the capacity, while no part is lost", () => {
  assert.match(complaint(roomBut(0, { spare: 6 }))!, /^slots: there are 51 slots in all, and only 50/);
  assert.equal(complaint(torn(roomBut(0, { spare: 6 }))), null);
});
