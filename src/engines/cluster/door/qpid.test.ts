import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seededFraction } from "../../../sim/hand-world.ts";
import { type EdgeState, Qpid } from "./qpid.ts";

const RESEND_MS = 100;
const STEPS_MAX = 20_000;

interface Faults {
  readonly loss: number;
  readonly twice: number;
  /** Each message takes its own time, so they overtake each other. */
  readonly delayMaxMs: number;
}
const CALM: Faults = { loss: 0, twice: 0, delayMaxMs: RESEND_MS / 4 };
const STORM: Faults = { loss: 0.3, twice: 0.3, delayMaxMs: 3 * RESEND_MS };

interface Flight {
  readonly at: number;
  readonly from: number;
  readonly to: number;
  readonly body: string;
}

/** Nodes on a random tree, a bad network between them, and books that know nothing of what is inside the nodes. */
class Net {
  readonly dice: () => number;
  readonly faults: Faults;
  readonly nodes: Qpid[];
  readonly queues: number[][];
  readonly neighbours: number[][];
  readonly versions: number[];
  readonly flights: Flight[] = [];
  now = 1_000;
  sent = 0;
  /** The root stamps its memo anew after every event; what is read must be what was last written. */
  #stamp: number | null = null;

  constructor({ size, seed, faults }: { size: number; seed: number; faults: Faults }) {
    this.dice = seededFraction(seed);
    this.faults = faults;
    this.nodes = Array.from({ length: size }, () => new Qpid({ resendMs: RESEND_MS }));
    this.queues = this.nodes.map(() => []);
    this.neighbours = this.nodes.map(() => []);
    this.versions = this.nodes.map(() => 0);
    for (let node = 1; node < size; node++) this.#connect(node, this.pick(node));
  }

  pick(below: number): number {
    return Math.floor(this.dice() * below);
  }

  /** Starts view 1 everywhere at once. */
  open(): this {
    const first = this.pick(this.nodes.length);
    for (const node of this.nodes.keys()) this.start(node, 1, first);
    return this;
  }

  start(node: number, version: number, first: number): void {
    const towards = node === first ? null : this.path(node, first)[1]!;
    this.nodes[node]!.start({ version, neighbours: this.neighbours[node]!, towards }, this.now);
    this.versions[node] = version;
    if (version > 1) this.#stamp = null;
    this.#after(node);
  }

  insert(node: number, key = this.pick(2 ** 40)): void {
    this.queues[node]!.push(key);
    this.queues[node]!.sort((a, b) => a - b);
    this.#weigh(node);
  }

  /** Everyone who waits at a node is gone. */
  empty(node: number): void {
    this.queues[node] = [];
    this.#weigh(node);
  }

  /** Takes the first of the root's queue; null when no node is the root, or nobody waits there. */
  deleteMin(): number | null {
    const root = this.root();
    const key = root === null ? undefined : this.queues[root]!.shift();
    if (root === null || key === undefined) return null;
    this.#weigh(root);
    return key;
  }

  release(node: number): void {
    this.nodes[node]!.release();
    this.#after(node);
  }

  root(): number | null {
    const found = this.nodes.findIndex((node) => node.isRoot);
    return found < 0 ? null : found;
  }

  step(): boolean {
    const flight = Math.min(...this.flights.map(({ at }) => at));
    const next = Math.min(flight, ...this.nodes.map((node) => node.nextAt()));
    if (next === Number.POSITIVE_INFINITY) return false;
    this.now = Math.max(this.now, next);
    if (flight <= next) this.#deliver(this.flights.findIndex(({ at }) => at === flight));
    else this.#tick();
    return true;
  }

  steps(count: number): void {
    for (let i = 0; i < count; i++) this.step();
  }

  /** Until nothing flies and nobody has anything to send. */
  settle(): void {
    for (let i = 0; i < STEPS_MAX; i++) if (!this.step()) return;
    assert.fail(`not quiet after ${STEPS_MAX} steps`);
  }

  /** The nodes from one to another, both included. */
  path(from: number, to: number, before = -1): number[] {
    if (from === to) return [from];
    for (const next of this.neighbours[from]!) {
      const rest = next === before ? [] : this.path(next, to, from);
      if (rest.length > 0) return [from, ...rest];
    }
    return [];
  }

  distance(from: number, to: number): number {
    return this.path(from, to).length - 1;
  }

  /** What must hold when all is quiet: the root is where the smallest key is, and all pointers lead there. */
  checkQuiet(): void {
    const all = this.queues.flat();
    const root = this.root();
    assert.ok(root !== null, "there is a root");
    const least = all.length === 0 ? null : Math.min(...all);
    assert.equal(this.nodes[root]!.deepMin, least);
    assert.equal(this.queues[root]![0] ?? null, least);
    for (const [i, node] of this.nodes.entries()) assert.equal(node.pointer, this.path(i, root)[1] ?? null);
  }

  #connect(a: number, b: number): void {
    this.neighbours[a]!.push(b);
    this.neighbours[b]!.push(a);
  }

  #weigh(node: number): void {
    this.nodes[node]!.setWeight(this.queues[node]![0] ?? null);
    this.#after(node);
  }

  #tick(): void {
    for (const [i, node] of this.nodes.entries()) {
      if (node.nextAt() > this.now) continue;
      node.tick(this.now);
      this.#after(i);
    }
  }

  #deliver(index: number): void {
    const [flight] = this.flights.splice(index, 1);
    const { from, to, body } = flight!;
    this.nodes[to]!.receive(from, JSON.parse(body), this.now);
    this.#after(to);
  }

  #after(from: number): void {
    for (const { to, body } of this.nodes[from]!.takeOutbox()) {
      this.sent++;
      this.#fly({ from, to, body: JSON.stringify(body) });
    }
    this.#checkOneRoot();
    this.#checkMemo();
  }

  #fly(message: Omit<Flight, "at">): void {
    const copies = this.dice() < this.faults.twice ? 2 : 1;
    for (let i = 0; i < copies; i++) {
      if (this.dice() < this.faults.loss) continue;
      this.flights.push({ ...message, at: this.now + this.dice() * this.faults.delayMaxMs });
    }
  }

  /** One root, or one edge that the root travels on: there both ends point at each other. */
  #checkOneRoot(): void {
    for (const version of new Set(this.versions)) {
      if (version === 0) continue;
      const isIn = (i: number) => this.versions[i] === version;
      const roots = this.nodes.filter((node, i) => isIn(i) && node.isRoot).length;
      assert.ok(roots <= 1, `${roots} roots in view ${version}`);
      if (!this.nodes.every((_, i) => isIn(i))) continue;
      const travelling = this.nodes.filter(({ pointer }, i) => {
        return pointer !== null && pointer < i && this.nodes[pointer]!.pointer === i;
      }).length;
      assert.equal(roots + travelling, 1);
    }
  }

  #checkMemo(): void {
    if (new Set(this.versions).size > 1) return;
    const root = this.nodes.find((node) => node.isRoot);
    if (!root) return;
    assert.equal(root.memo, this.#stamp);
    this.#stamp = (this.#stamp ?? 0) + 1;
    root.memo = this.#stamp;
  }
}

/** One of the things that happen to nodes, picked by dice. */
function disturb(net: Net): void {
  const node = net.pick(net.nodes.length);
  const what = net.dice();
  if (what < 0.4) net.insert(node);
  else if (what < 0.5) net.empty(node);
  else if (what < 0.8) net.deleteMin();
  else if (what < 0.9) net.nodes[node]!.hold();
  else net.release(node);
}

const seeds = fc.integer({ min: 0, max: 2 ** 31 });
const SIZES = [1, 2, 3, 8, 64];

for (const size of SIZES) {
  const numRuns = size > 8 ? 15 : 60;

  test(`among ${size} in a storm there is one root at any instant, and when quiet it has the smallest key`, () => {
    const property = fc.property(seeds, (seed) => {
      const net = new Net({ size, seed, faults: STORM }).open();
      for (let i = 0; i < 60; i++) {
        disturb(net);
        net.steps(net.pick(8));
      }
      for (const node of net.nodes.keys()) net.release(node);
      net.settle();
      net.checkQuiet();
    });
    fc.assert(property, { numRuns });
  });

  test(`deleteMin among ${size} gives the order of all keys, wherever they were inserted`, () => {
    const property = fc.property(seeds, fc.boolean(), (seed, isStormy) => {
      const net = new Net({ size, seed, faults: isStormy ? STORM : CALM }).open();
      for (let i = 0; i < 30; i++) net.insert(net.pick(size));
      const inOrder = net.queues.flat().sort((a, b) => a - b);
      const deleted = inOrder.map(() => {
        net.settle();
        return net.deleteMin();
      });
      assert.deepEqual(deleted, inOrder);
    });
    fc.assert(property, { numRuns: Math.ceil(numRuns / 3) });
  });
}

test("a root without a line gives the root to where people wait; when nobody waits it stays", () => {
  const property = fc.property(fc.constantFrom(...SIZES.slice(1)), seeds, (size, seed) => {
    const net = new Net({ size, seed, faults: CALM }).open();
    const [first, second] = [net.pick(size), net.pick(size)];
    net.insert(first, 10);
    net.insert(second, 20);
    net.settle();
    assert.equal(net.root(), first);
    net.empty(first);
    net.settle();
    if (first !== second) assert.equal(net.root(), second);
    const last = net.root();
    net.empty(second);
    net.settle();
    assert.equal(net.root(), last);
    net.checkQuiet();
  });
  fc.assert(property, { numRuns: 30 });
});

test("without loss, deleteMin costs two messages for each edge between the old root and the new", () => {
  for (const size of SIZES) {
    const net = new Net({ size, seed: size, faults: CALM }).open();
    for (let i = 0; i < 60; i++) net.insert(net.pick(size));
    net.settle();
    for (let i = 0; i < 60; i++) {
      const before = net.root()!;
      net.sent = 0;
      net.deleteMin();
      net.settle();
      assert.equal(net.sent, 2 * net.distance(before, net.root()!));
    }
  }
});

test("without loss, insert costs at most four messages for each edge on the way to the root, and none when it changes no minimum", () => {
  const net = new Net({ size: 64, seed: 5, faults: CALM }).open();
  for (let i = 0; i < 100; i++) {
    const [node, before] = [net.pick(64), net.root()!];
    net.sent = 0;
    net.insert(node);
    net.settle();
    assert.ok(net.sent <= 4 * net.distance(node, before), `${net.sent}`);
    net.sent = 0;
    net.insert(node, net.queues[node]!.at(-1)! + 1);
    net.settle();
    assert.equal(net.sent, 0);
  }
});

test("a new view that nodes enter one by one in a storm has one root, and finds the smallest key", () => {
  const property = fc.property(fc.constantFrom(2, 3, 8), seeds, (size, seed) => {
    const net = new Net({ size, seed, faults: STORM }).open();
    for (const version of [2, 3]) {
      const first = net.pick(size);
      const order = [...net.nodes.keys()].sort(() => net.dice() - 0.5);
      for (const node of order) {
        for (let i = net.pick(4); i > 0; i--) disturb(net);
        net.steps(net.pick(12));
        net.start(node, version, first);
      }
    }
    for (const node of net.nodes.keys()) net.release(node);
    net.settle();
    net.checkQuiet();
  });
  fc.assert(property, { numRuns: 60 });
});

/** Node 0, where the root starts, and node 1; nothing goes between them but what the test hands over. */
function pair({ version = 1 } = {}): [Qpid, Qpid] {
  const nodes: [Qpid, Qpid] = [new Qpid({ resendMs: RESEND_MS }), new Qpid({ resendMs: RESEND_MS })];
  for (const [i, node] of nodes.entries())
    node.start({ version, neighbours: [1 - i], towards: i === 0 ? null : 0 }, 0);
  return nodes;
}

function bodies(node: Qpid): EdgeState[] {
  return node.takeOutbox().map(({ body }) => body);
}

const STATE: EdgeState = { kind: "edge", view: 1, count: 1, weight: 5, handed: 0, memo: null, heard: 0 };

test("several changes between two sendings are one message, and a change that was undone is none", () => {
  const [, node] = pair();
  for (const weight of [9, 7, null, 8]) node.setWeight(weight);
  assert.deepEqual(node.takeOutbox(), [{ to: 0, body: { ...STATE, weight: 8 } }]);
  node.setWeight(6);
  node.setWeight(8);
  assert.deepEqual(node.takeOutbox(), []);
});

test("a neighbour is told the smallest key of the sender's side, never its own", () => {
  const middle = new Qpid({ resendMs: RESEND_MS });
  middle.start({ version: 1, neighbours: [0, 2], towards: 0 }, 0);
  middle.setWeight(50);
  middle.receive(0, { ...STATE, weight: 1 }, 0);
  middle.receive(2, { ...STATE, weight: 30 }, 0);
  const told = middle.takeOutbox().find(({ to }) => to === 0);
  assert.equal(told?.body.weight, 30);
  assert.equal(middle.deepMin, 1);
});

test("a root that is held stays, also when a smaller key comes, until it is released", () => {
  const [root] = pair();
  root.hold();
  root.receive(1, STATE, 0);
  assert.ok(root.isRoot);
  assert.equal(root.deepMin, 5);
  assert.deepEqual(
    bodies(root).map(({ handed }) => handed),
    [0],
  );
  root.release();
  assert.ok(!root.isRoot);
  assert.equal(root.pointer, 1);
  assert.deepEqual(
    bodies(root).map(({ handed }) => handed),
    [1],
  );
});

test("the memo goes with the root: written there only, sent until it has arrived, and no longer", () => {
  const [giver, taker] = pair();
  giver.memo = { round: 7 };
  taker.memo = "not the root's";
  assert.equal(taker.memo, null);
  giver.receive(1, STATE, 0);
  assert.equal(giver.memo, null);
  const [given] = bodies(giver);
  assert.deepEqual(given?.memo, { round: 7 });
  giver.tick(RESEND_MS);
  assert.deepEqual(bodies(giver), [given]);
  // Now `taker` says what was handed over in its name above.
  taker.setWeight(5);
  taker.takeOutbox();
  taker.receive(0, given, 0);
  assert.ok(taker.isRoot);
  assert.deepEqual(taker.memo, { round: 7 });
  for (const answer of bodies(taker)) giver.receive(1, answer, 0);
  giver.setWeight(3);
  assert.deepEqual(
    bodies(giver).map(({ weight, handed, memo }) => ({ weight, handed, memo })),
    [{ weight: 3, handed: 1, memo: null }],
  );
});

test("a state is sent again every so often until it is heard, and then no more", () => {
  const [root, node] = pair();
  node.setWeight(5);
  node.tick(1_000);
  const [first] = bodies(node);
  assert.equal(node.nextAt(), 1_000 + RESEND_MS);
  node.tick(1_000 + RESEND_MS - 1);
  assert.deepEqual(bodies(node), []);
  for (const nth of [1, 2, 3]) {
    node.tick(1_000 + nth * RESEND_MS);
    assert.deepEqual(bodies(node), [first]);
  }
  root.hold();
  root.receive(1, first, 2_000);
  const [answer] = bodies(root);
  node.receive(0, answer, 2_000);
  assert.equal(node.nextAt(), Number.POSITIVE_INFINITY);
  node.tick(9_000);
  assert.deepEqual(bodies(node), []);
  // The answer may have been lost: a repeated state is answered again, and answers are not.
  root.receive(1, first, 9_000);
  assert.deepEqual(bodies(root), [answer]);
  node.receive(0, answer, 9_000);
  assert.deepEqual(bodies(node), []);
});

test("a state sent at an unknown time is not sent again before a whole interval", () => {
  const [, node] = pair();
  node.setWeight(5);
  assert.equal(bodies(node).length, 1);
  assert.equal(node.nextAt(), 0, "at once: the last instant told");
  node.tick(5_000);
  assert.deepEqual(bodies(node), []);
  assert.equal(node.nextAt(), 5_000 + RESEND_MS);
  const [root] = pair();
  root.hold();
  root.receive(1, STATE, 10);
  root.release();
  assert.equal(bodies(root).length, 1);
  root.tick(5_000);
  assert.deepEqual(bodies(root), []);
});

test("a change while the state is about to be sent again is a new state", () => {
  const [, node] = pair();
  node.setWeight(5);
  node.tick(0);
  node.takeOutbox();
  node.tick(RESEND_MS);
  node.setWeight(4);
  assert.deepEqual(bodies(node), [{ ...STATE, count: 2, weight: 4 }]);
});

test("a state that is heard while it is about to be sent again is not sent, nor when an older answer comes late", () => {
  const [, node] = pair();
  const answers: EdgeState[] = [1, 2].map((heard) => ({ ...STATE, count: 0, weight: null, heard }));
  for (const weight of [5, 4]) {
    node.setWeight(weight);
    node.tick(0);
    node.takeOutbox();
  }
  node.tick(RESEND_MS);
  node.receive(0, answers[1], RESEND_MS);
  assert.deepEqual(bodies(node), []);
  node.receive(0, answers[0], RESEND_MS);
  assert.equal(node.nextAt(), Number.POSITIVE_INFINITY);
});

test("a clock that is set back does not stop the sending", () => {
  const [, node] = pair();
  node.setWeight(5);
  node.tick(1_000_000);
  node.takeOutbox();
  node.tick(1_000);
  node.tick(1_000 + RESEND_MS);
  assert.equal(bodies(node).length, 1);
});

test("a message that is malformed, from a stranger, of another view or impossible changes nothing", () => {
  const wrongs: unknown[] = [
    null,
    "edge",
    [],
    { ...STATE, kind: "ping" },
    { ...STATE, view: 0 },
    { ...STATE, view: 2 },
    ...["view", "count", "handed", "heard"].flatMap((field) =>
      [-1, 0.5, Number.NaN, 2 ** 60, "1", null, undefined].map((value) => ({ ...STATE, [field]: value })),
    ),
    ...[Number.NaN, Number.POSITIVE_INFINITY, "5", undefined, {}].map((weight) => ({ ...STATE, weight })),
    { ...STATE, heard: 1 },
    { ...STATE, handed: 1 },
  ];
  for (const wrong of wrongs) {
    const [root] = pair();
    root.receive(1, wrong, 0);
    assert.deepEqual([root.isRoot, root.deepMin, root.takeOutbox()], [true, null, []], JSON.stringify(wrong));
  }
  const [root, node] = pair();
  root.receive(7, STATE, 0);
  assert.equal(root.deepMin, null);
  node.receive(0, { ...STATE, handed: 2 }, 0);
  assert.deepEqual([node.isRoot, node.deepMin, node.takeOutbox()], [false, null, []]);
});

test("whatever arrives, a node throws nothing and is root only when it was given the root", () => {
  const numbers = fc.oneof(fc.integer({ min: -1, max: 3 }), fc.double(), fc.constant(null));
  const states = fc.record({
    kind: fc.constant("edge"),
    view: fc.constantFrom(1, 1, 1, 2),
    count: numbers,
    weight: numbers,
    handed: fc.constantFrom(0, 0, 2, 3),
    memo: fc.anything(),
    heard: numbers,
  });
  const froms = fc.integer({ min: 0, max: 2 });
  const property = fc.property(fc.array(fc.tuple(froms, fc.oneof(states, fc.anything()))), (messages) => {
    const [, node] = pair();
    for (const [from, body] of messages) {
      node.receive(from, body, 0);
      node.takeOutbox();
      assert.ok(!node.isRoot);
    }
  });
  fc.assert(property, { numRuns: 300 });
});

test("an older state that comes late does not undo a newer one", () => {
  const [root] = pair();
  root.hold();
  root.receive(1, { ...STATE, count: 2, weight: 8 }, 0);
  root.receive(1, { ...STATE, count: 1, weight: 3 }, 0);
  assert.equal(root.deepMin, 8);
});

test("a new view keeps this node's weight and forgets everything else", () => {
  const [root] = pair();
  root.setWeight(40);
  root.hold();
  root.memo = "old";
  root.receive(1, STATE, 0);
  root.start({ version: 2, neighbours: [1, 2], towards: null }, 0);
  assert.deepEqual([root.deepMin, root.memo, root.takeOutbox()], [40, null, []]);
  root.receive(1, { ...STATE, view: 2 }, 0);
  assert.equal(root.pointer, 1, "the hold is over");
});

test("a node is in no view before the first, and starts each once", () => {
  const node = new Qpid({ resendMs: RESEND_MS });
  node.setWeight(4);
  node.receive(1, STATE, 0);
  assert.deepEqual([node.isRoot, node.takeOutbox(), node.nextAt()], [false, [], Number.POSITIVE_INFINITY]);
  node.start({ version: 3, neighbours: [1], towards: 1 }, 0);
  assert.throws(() => node.start({ version: 3, neighbours: [1], towards: null }, 0), /view 3 cannot follow/);
  assert.throws(() => node.start({ version: 4, neighbours: [1], towards: 2 }, 0), /not among the neighbours/);
  assert.throws(() => node.setWeight(Number.NaN), /finite/);
  assert.equal(node.pointer, 1);
});
