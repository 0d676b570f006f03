/**
 * How many messages it takes to admit k visitors at once, with eight nodes on a virtual clock: a room is closed, k visitors and a
 * thousand more wait in it, and it opens for k. The first number counts the messages of admission (counting rounds and moves of
 * the root) until the last of the k has their turn; the second counts all messages between nodes until every node knows of all
 * turns.
 *
 * The baseline is how the paper does it (Koopmans 2024, 4.3 and 4.5): the root counts who is on the site, once, and then calls
 * for `deleteMin` k times. Each call travels to where the root is by then, and the root moves to the node that has the next
 * smallest key. It is run with our QPID on the same tree for the same line. Acknowledgements are not counted: the paper's network
 * loses nothing and needs none.
 */
import { ANYBODY } from "../src/core/engine.ts";
import { DEFAULT_RULES, type RoomRules } from "../src/core/rules.ts";
import { type EdgeState, Qpid } from "../src/engines/cluster/door/qpid.ts";
import { type Tree, treeOf } from "../src/engines/cluster/membership/tree.ts";
import { ClusterNode, DEFAULT_NODE_SETTINGS } from "../src/engines/cluster/node.ts";
import type { Message } from "../src/engines/cluster/wire/message.ts";
import { type Row, row } from "./bench.ts";

const NODES = 8;
const OPENINGS = [1, 100, 10_000] as const;
const WAIT_ON = 1_000;
/** For all messages of the largest opening, beside one for a hundred. */
const GROWTH_MAX = 1.5;
const ROOM = "main";
const STEP_MS = 1;
const SETTLE_MS = 3_000;
const OPEN_MAX_MS = 10_000;
const ADMITTING = new Set(["count", "report", "announce", "edge"]);
const PAUSED: RoomRules = { ...DEFAULT_RULES, paused: true };

interface Taken {
  readonly admitting: number;
  readonly all: number;
}

export function messageRows(progress: (text: string) => void): Row[] {
  const found = OPENINGS.map((admitted) => {
    progress(`messages for ${admitted.toLocaleString("en")} visitors`);
    return { admitted, ours: open(admitted), oneByOne: deleteMins(admitted) };
  });
  const [, some, most] = found;
  return [
    ...found.map(({ admitted, ours, oneByOne }) =>
      row({
        name: `messages for each of ${admitted.toLocaleString("en")} admitted at once, beside deleteMin one by one`,
        unit: "messages",
        value: ours.admitting / admitted,
        baseline: oneByOne / admitted,
      }),
    ),
    row({
      name: "messages of an opening for 10,000, beside one for 100",
      unit: "messages",
      value: most!.ours.admitting,
      baseline: some!.ours.admitting,
      goal: { of: "ratio", atMost: GROWTH_MAX },
    }),
    row({
      name: "the same with all other messages between nodes",
      unit: "messages",
      value: most!.ours.all,
      baseline: some!.ours.all,
      goal: { of: "ratio", atMost: GROWTH_MAX },
    }),
  ];
}

function open(admitted: number): Taken {
  const cluster = new Cluster(PAUSED);
  cluster.join(admitted + WAIT_ON);
  cluster.run(SETTLE_MS);
  cluster.countFromNow();
  cluster.configure({ ...DEFAULT_RULES, totalActiveUsers: admitted });
  cluster.runUntil(() => cluster.turns === admitted);
  const { admitting } = cluster;
  cluster.runUntil(() => cluster.isKnown(admitted));
  return { admitting, all: cluster.all };
}

interface Sent {
  readonly from: string;
  readonly to: string;
  readonly message: Message;
}

/** Eight nodes; a message takes one step. */
class Cluster {
  readonly #nodes = new Map<string, ClusterNode>();
  #now = Date.UTC(2026, 0, 1);
  #joined = 0;
  #post: Sent[] = [];
  /** Messages so far. */
  admitting = 0;
  all = 0;

  constructor(rules: RoomRules) {
    for (let n = 0; n < NODES; n++) {
      const name = `n${n}`;
      const own = { name, address: name, life: 1, join: n === 0 ? [] : ["n0"] };
      this.#nodes.set(name, new ClusterNode({ ...DEFAULT_NODE_SETTINGS, ...own }, diceFrom(n), this.#now));
    }
    this.run(SETTLE_MS);
    this.configure(rules);
    this.run(SETTLE_MS);
  }

  /** Turns that nodes have given to those who joined there. */
  get turns(): number {
    let sum = 0;
    for (const node of this.#nodes.values()) sum += node.status().rooms[ROOM]?.turns ?? 0;
    return sum;
  }

  /** True when every node knows of this many turns. */
  isKnown(turns: number): boolean {
    return [...this.#nodes.values()].every((node) => node.counts(ROOM, this.#now).admitted === turns);
  }

  configure(rules: RoomRules): void {
    for (const node of this.#nodes.values()) node.configure(ROOM, rules, this.#now);
  }

  /** Adds this many visitors, at one node after the other. */
  join(count: number): void {
    for (let n = 1; n <= count; n++) {
      const id = (++this.#joined).toString(16).padStart(32, "0");
      const node = this.#nodes.get(`n${n % NODES}`)!;
      node.join(ROOM, { id, newcomer: ANYBODY, dice: 0.5 }, this.#now, () => {});
      if (n % NODES === 0) this.run(STEP_MS);
    }
  }

  countFromNow(): void {
    this.admitting = 0;
    this.all = 0;
  }

  run(forMs: number): void {
    for (const endAt = this.#now + forMs; this.#now < endAt; ) this.#step();
  }

  runUntil(isThere: () => boolean): void {
    const endAt = this.#now + OPEN_MAX_MS;
    while (!isThere()) {
      if (this.#now > endAt) throw new Error(`after ${OPEN_MAX_MS} ms only ${this.turns} have their turn`);
      this.#step();
    }
  }

  #step(): void {
    const post = this.#post;
    this.#post = [];
    this.#now += STEP_MS;
    for (const { from, to, message } of post) this.#nodes.get(to)!.receive(from, message, this.#now);
    for (const [from, node] of this.#nodes) {
      if (node.nextAt() <= this.#now) node.tick(this.#now);
      for (const { to, message } of node.takeOutbox()) this.#send({ from, to, message });
      node.takeEvents();
    }
  }

  /** As a copy: nodes share nothing. */
  #send(sent: Sent): void {
    this.#post.push(structuredClone(sent));
    this.all += sent.message.bodies.length;
    for (const { kind } of sent.message.bodies) if (ADMITTING.has(kind)) this.admitting++;
  }
}

/** How many messages it takes to count, and to admit `count` visitors one by one. */
function deleteMins(admitted: number): number {
  const slots = Array.from({ length: NODES }, (_, slot) => slot);
  const tree = treeOf(slots);
  const queues = slots.map((slot) =>
    Array.from({ length: Math.ceil((admitted + WAIT_ON) / NODES) }, (_, n) => n * NODES + slot),
  );
  const nodes = slots.map((slot) => {
    const node = new Qpid({ resendMs: OPEN_MAX_MS });
    const towards = slot === tree.root ? null : tree.towards(slot, tree.root);
    node.start({ version: 1, neighbours: tree.neighboursOf(slot), towards }, 0);
    node.setWeight(queues[slot]![0]!);
    return node;
  });
  exchange(nodes);
  const caller = nodes.findIndex((node) => node.isRoot);
  let messages = 2 * (NODES - 1);
  for (let n = 0; n < admitted; n++) {
    const root = nodes.findIndex((node) => node.isRoot);
    messages += edgesBetween(tree, { from: caller, to: root });
    queues[root]!.shift();
    nodes[root]!.setWeight(queues[root]![0] ?? null);
    messages += exchange(nodes);
  }
  return messages;
}

function edgesBetween(tree: Tree, { from, to }: { readonly from: number; readonly to: number }): number {
  let edges = 0;
  for (let at = from; at !== to; at = tree.towards(at, to)) edges++;
  return edges;
}

/** Runs until no messages are left. Returns how many there were, without acknowledgements. */
function exchange(nodes: readonly Qpid[]): number {
  let messages = 0;
  for (let isQuiet = false; !isQuiet; ) {
    isQuiet = true;
    for (const [from, node] of nodes.entries())
      for (const { to, body } of node.takeOutbox()) {
        isQuiet = false;
        if (isState(body)) messages++;
        nodes[to]!.receive(from, body, 0);
      }
  }
  return messages;
}

function isState({ count }: EdgeState): boolean {
  return count > 0;
}

/** The same numbers in every run (mulberry32). */
function diceFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
