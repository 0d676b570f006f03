import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { treeOf } from "../membership/tree.ts";
import { Counter, type CountingBody, isLater, type OwnCounts } from "./counter.ts";
import {
  type AnnounceBody,
  type Cut,
  EVERYONE_UP_TO,
  type Memo,
  NOTHING,
  type ReportBody,
  type RoomShare,
  type RoundId,
} from "./counting.ts";

const MEMO: Memo = { view: 1, seq: 1, rooms: [] };
const NO_ASKS = { root: 0, asks: [], draws: [], drawn: [], memoAt: [1, -1] as const };

/** A node with some people waiting, and what it was told. */
class Node {
  readonly keys: readonly number[];
  readonly counter: Counter;
  readonly applied: AnnounceBody[] = [];
  /** How many of its own it let in. */
  readonly admitted: number[] = [];
  memo: Memo | null = null;
  dropped: readonly RoundId[] = [];

  constructor(keys: readonly number[], neighbours: readonly number[]) {
    this.keys = keys;
    this.counter = new Counter({
      report: ({ asks }) => {
        const [, lanes] = asks.find(([room]) => room === "r") ?? ["r", []];
        const [, ...pivots] = lanes.find(([lane]) => lane === 0) ?? [0];
        const upTo = pivots.map((pivot) => keys.filter((key) => key <= pivot).length);
        const own = { ...NOTHING, lanes: [[0, keys.length, ...upTo]] as const, arrivals: keys.length };
        return { rooms: [["r", own]], heads: [["log", keys.length]], memo: this.memo, dropped: this.dropped };
      },
      apply: (body, counts) => this.#apply(body, counts),
      dice: () => 0.5,
    });
    this.counter.start(neighbours);
  }

  get share(): RoomShare {
    return this.applied.at(-1)!.shares[0]![1];
  }

  #apply(body: AnnounceBody, counts: OwnCounts): void {
    this.applied.push(body);
    for (const [room, { cuts }] of body.shares)
      for (const cut of cuts) this.admitted.push(cut.length === 3 ? counts.upTo(room, cut).count : cut[1]);
  }
}

/** Nodes in their tree, whose root is the first, over a network that delivers what `arrives` lets it. */
class Cluster {
  readonly nodes: readonly Node[];
  now = 0;
  arrives: (from: number, to: number, body: CountingBody) => boolean = () => true;

  constructor(keys: readonly (readonly number[])[]) {
    const tree = treeOf([...keys.keys()]);
    this.nodes = keys.map((own, slot) => new Node(own, tree.neighboursOf(slot)));
  }

  get root(): Counter {
    return this.nodes[0]!.counter;
  }

  deliver(): void {
    for (let isQuiet = false; !isQuiet; ) {
      isQuiet = true;
      for (const [from, { counter }] of this.nodes.entries())
        for (const { to, body } of counter.takeOutbox()) {
          isQuiet = false;
          if (this.arrives(from, to, body))
            this.nodes[to]!.counter.receive(from, structuredClone(body), this.now);
        }
    }
  }

  /** One pass of a round: what everybody has. */
  count(seq: number, pass = 0, pivots: readonly number[] = []): ReportBody | null {
    this.root.ask({ ...NO_ASKS, seq, pass, asks: [["r", [[0, ...pivots]]]] }, this.now);
    this.deliver();
    return this.root.takeSum();
  }

  announce(seq: number, { cuts = [], slots = 0 }: { cuts?: readonly Cut[]; slots?: number } = {}): void {
    const shares = [["r", { cuts, slots, entries: null, leave: slots, paid: 0, isOver: false }]] as const;
    this.root.announce({ seq, at: this.now, shares, memo: { ...MEMO, seq }, dropped: [] });
    this.deliver();
  }

  tick(ms: number): void {
    this.now += ms;
    for (const { counter } of this.nodes) counter.tick(this.now);
    this.deliver();
  }
}

const people = fc.array(fc.uniqueArray(fc.nat({ max: 99 }), { maxLength: 8 }), {
  minLength: 1,
  maxLength: 14,
});
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

test("the root gets the sum of what all nodes have, in all and up to each pivot", () => {
  fc.assert(
    fc.property(people, fc.nat({ max: 99 }), (keys, pivot) => {
      const sum = new Cluster(keys).count(1, 0, [pivot, EVERYONE_UP_TO])!;
      const all = keys.flat();
      const upTo = all.filter((key) => key <= pivot).length;
      assert.deepEqual(sum.rooms[0]![1].lanes, [[0, all.length, upTo, all.length]]);
      assert.equal(sum.heads.length, keys.length);
    }),
  );
});

test("an announcement is split completely, whatever the shape of the tree", () => {
  fc.assert(
    fc.property(people, fc.nat({ max: 50 }), (keys, slots) => {
      const cluster = new Cluster(keys);
      const sum = cluster.count(1)!;
      const waiting = sum.rooms[0]![1].lanes[0]![1];
      const byLot = Math.min(waiting, 5);
      cluster.announce(1, { slots, cuts: [[0, byLot]] });
      const given = sumOf(cluster.nodes.map(({ share }) => share.slots));
      assert.equal(given, waiting > 0 ? slots : 0, "handed out where people come");
      assert.equal(sumOf(cluster.nodes.flatMap(({ admitted }) => admitted)), byLot);
      for (const { admitted, keys: own } of cluster.nodes) assert.ok(sumOf(admitted) <= own.length);
    }),
  );
});

test("for a pivot of any pass every node admits those who were counted", () => {
  const cluster = new Cluster([[1, 9], [2, 8], [3, 7], [4], [5, 6]]);
  cluster.count(1, 0, [4]);
  cluster.count(1, 1, [5, 6]);
  cluster.announce(1, { cuts: [[0, 1, 0]] });
  assert.deepEqual(
    cluster.nodes.map(({ admitted }) => admitted),
    [[1], [1], [1], [1], [1]],
  );
});

test("an announcement counts once, however often it arrives", () => {
  const cluster = new Cluster([[1], [2], [3]]);
  cluster.count(1);
  cluster.announce(1, { slots: 3 });
  const again = { ...cluster.nodes[1]!.applied[0]! };
  for (let i = 0; i < 3; i++) cluster.nodes[1]!.counter.receive(0, again, 0);
  cluster.announce(1, { slots: 3 });
  assert.deepEqual(
    cluster.nodes.map(({ applied }) => applied.length),
    [1, 1, 1],
  );
});

test("an announcement that was lost comes with the next count, down every branch", () => {
  const cluster = new Cluster([[1], [2], [3], [4], [5], [6], [7]]);
  cluster.count(1);
  cluster.arrives = (_from, to, body) => !(body.kind === "announce" && to === 1);
  cluster.announce(1, { cuts: [[0, 7]] });
  const admitted = () => sumOf(cluster.nodes.flatMap((node) => node.admitted));
  assert.ok(admitted() < 7);
  cluster.arrives = () => true;
  cluster.count(2);
  assert.equal(admitted(), 7);
  cluster.announce(2);
  assert.ok(cluster.nodes.every(({ applied }) => applied.length === 2));
});

test("an announcement of another round than the last one reported to is ignored", () => {
  const cluster = new Cluster([[1], [2]]);
  const node = cluster.nodes[1]!;
  cluster.count(1);
  cluster.count(2);
  const share: RoomShare = { cuts: [], slots: 9, entries: null, leave: 0, paid: 0, isOver: false };
  const stale: AnnounceBody = {
    kind: "announce",
    seq: 1,
    at: 0,
    shares: [["r", share]],
    memo: MEMO,
    dropped: [],
  };
  node.counter.receive(0, stale, 0);
  node.counter.receive(0, { ...stale, seq: 3 }, 0);
  assert.deepEqual(node.applied, []);
});

test("only the node that asked may announce, and only nodes that were asked report", () => {
  const cluster = new Cluster([[1], [2], [3], [4], [5]]);
  cluster.arrives = (from) => from !== 4;
  cluster.count(1);
  const [root, , , , leaf] = cluster.nodes as [Node, Node, Node, Node, Node];
  const share: RoomShare = { cuts: [], slots: 9, entries: null, leave: 0, paid: 0, isOver: false };
  leaf.counter.receive(
    3,
    { kind: "announce", seq: 1, at: 0, shares: [["r", share]], memo: MEMO, dropped: [] },
    0,
  );
  assert.deepEqual(leaf.applied, []);
  const forged: ReportBody = {
    kind: "report",
    seq: 1,
    pass: 0,
    rooms: [],
    heads: [],
    memo: null,
    dropped: [],
  };
  root.counter.receive(4, forged, 0);
  assert.equal(root.counter.takeSum(), null);
});

test("a count is repeated until every report is there, and reports are not added twice", () => {
  const cluster = new Cluster([[1], [2], [3], [4], [5], [6]]);
  let state = 1;
  cluster.arrives = () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return state % 3 === 0;
  };
  let sum = cluster.count(1);
  for (let i = 0; i < 50 && !sum; i++) {
    cluster.tick(150);
    sum = cluster.root.takeSum();
  }
  assert.deepEqual(sum!.rooms[0]![1].lanes, [[0, 6]]);
  assert.equal(cluster.root.nextAt(), Number.POSITIVE_INFINITY);
});

test("a round is open from reporting until it is announced", () => {
  const cluster = new Cluster([[1], [2]]);
  const { counter } = cluster.nodes[1]!;
  assert.equal(counter.isOpen, false);
  cluster.count(1);
  assert.deepEqual([counter.isOpen, counter.round], [true, 1]);
  cluster.announce(1);
  assert.deepEqual([counter.isOpen, counter.round], [false, 1]);
});

test("rounds under way are over with a new tree", () => {
  const cluster = new Cluster([[1], [2]]);
  cluster.count(7);
  const { counter, applied } = cluster.nodes[1]!;
  counter.start([0]);
  const share: RoomShare = { cuts: [], slots: 9, entries: null, leave: 0, paid: 0, isOver: false };
  counter.receive(0, { kind: "announce", seq: 7, at: 0, shares: [["r", share]], memo: MEMO, dropped: [] }, 0);
  assert.deepEqual(applied, []);
  counter.receive(0, { kind: "count", ...NO_ASKS, seq: 1, pass: 0, last: null }, 0);
  assert.equal(counter.round, 1, "it counts from one again");
});

test("the root hears of every round that was never announced", () => {
  const cluster = new Cluster([[1], [2], [3], [4], [5]]);
  cluster.nodes[0]!.dropped = [[64, 1]];
  cluster.nodes[4]!.dropped = [[128, 7]];
  assert.deepEqual(cluster.count(1)?.dropped, [
    [64, 1],
    [128, 7],
  ]);
});

test("the latest memo of any node reaches the root", () => {
  const cluster = new Cluster([[1], [2], [3], [4], [5]]);
  cluster.nodes[4]!.memo = { view: 3, seq: 2, rooms: [] };
  cluster.nodes[2]!.memo = { view: 2, seq: 9, rooms: [] };
  assert.deepEqual(cluster.count(1)?.memo, { view: 3, seq: 2, rooms: [] });
  assert.ok(isLater({ view: 3, seq: 3 }, { view: 3, seq: 2 }));
  assert.ok(!isLater({ view: 3, seq: 2 }, { view: 3, seq: 2 }));
});
