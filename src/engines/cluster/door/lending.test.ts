import assert from "node:assert/strict";
import { test } from "node:test";
import { Lending, type LendingBody, type Loan } from "./lending.ts";

/** A node with some slots in hand. */
class Node {
  readonly lending: Lending;
  spare: number;
  round: number | null = 1;
  isRoundOpen = false;
  peers: readonly string[];

  constructor(spare: number, peers: readonly string[]) {
    this.spare = spare;
    this.peers = peers;
    this.lending = new Lending({
      round: () => this.round,
      isRoundOpen: () => this.isRoundOpen,
      peers: () => this.peers,
      lend: () => this.#lend(),
      take: (_room, { slots }) => {
        this.spare += slots;
      },
    });
    this.lending.start(1);
  }

  #lend(): Loan {
    const slots = Math.ceil(this.spare / 2);
    this.spare -= slots;
    return { slots, leave: 0 };
  }

  sent(): { to: string; body: LendingBody }[] {
    return this.lending.takeOutbox();
  }
}

class Cluster {
  readonly nodes: Readonly<Record<string, Node>>;

  constructor(spares: Readonly<Record<string, number>>) {
    const names = Object.keys(spares);
    const peersOf = (name: string) => names.filter((other) => other !== name);
    this.nodes = Object.fromEntries(names.map((name) => [name, new Node(spares[name]!, peersOf(name))]));
  }

  of(name: string): Node {
    return this.nodes[name]!;
  }

  /** What is on its way, taken off the nodes. */
  messages(): { from: string; to: string; body: LendingBody }[] {
    return Object.entries(this.nodes).flatMap(([from, node]) => node.sent().map((one) => ({ from, ...one })));
  }

  deliver(messages: readonly { from: string; to: string; body: LendingBody }[] = this.messages()): void {
    for (const { from, to, body } of messages) this.of(to).lending.receive(from, structuredClone(body));
  }

  spare(): number {
    return Object.values(this.nodes).reduce((sum, { spare }) => sum + spare, 0);
  }
}

/** Asks for room; gives how often it was called back. */
function ask(node: Node, now = 0): { isAsked: boolean; called: () => number } {
  let count = 0;
  const isAsked = node.lending.ask("r", now, () => count++);
  return { isAsked, called: () => count };
}

test("a node without slots gets half of the others' spare ones, and the sum stays the same", () => {
  const cluster = new Cluster({ a: 0, b: 6, c: 0 });
  const { isAsked, called } = ask(cluster.of("a"));
  assert.ok(isAsked);
  cluster.deliver();
  assert.equal(called(), 0);
  cluster.deliver();
  assert.equal(called(), 1);
  assert.deepEqual([cluster.of("a").spare, cluster.of("b").spare], [3, 3]);
});

test("newcomers who come while a request is open wait for its answer, up to a limit", () => {
  const cluster = new Cluster({ a: 0, b: 6 });
  const asked = Array.from({ length: 201 }, () => ask(cluster.of("a")));
  assert.deepEqual(
    asked.map(({ isAsked }) => isAsked),
    [...new Array(200).fill(true), false],
  );
  assert.equal(cluster.of("a").sent().length, 1, "one question for all of them");
});

test("when no node has a slot to lend, none is asked again before the next round", () => {
  const cluster = new Cluster({ a: 0, b: 0, c: 0 });
  const first = ask(cluster.of("a"));
  cluster.deliver();
  cluster.deliver();
  assert.equal(first.called(), 1);
  assert.equal(ask(cluster.of("a")).isAsked, false);
  cluster.of("a").lending.refresh("r");
  assert.equal(ask(cluster.of("a")).isAsked, true);
});

test("a newcomer waits only a moment for an answer", () => {
  const cluster = new Cluster({ a: 0, b: 6 });
  const { lending } = cluster.of("a");
  const { called } = ask(cluster.of("a"));
  assert.equal(lending.nextAt(), 150);
  lending.tick(149);
  assert.equal(called(), 0);
  lending.tick(150);
  assert.equal(called(), 1);
  assert.equal(lending.nextAt(), Number.POSITIVE_INFINITY);
});

test("an answer that comes too late for the newcomer still brings its slots", () => {
  const cluster = new Cluster({ a: 0, b: 6 });
  ask(cluster.of("a"));
  cluster.deliver();
  cluster.of("a").lending.tick(150);
  cluster.deliver();
  assert.equal(cluster.spare(), 6);
});

test("a slot lent before a round and coming after it is not taken: the round has found it missing", () => {
  const cluster = new Cluster({ a: 0, b: 6 });
  ask(cluster.of("a"));
  cluster.deliver();
  const onItsWay = cluster.messages();
  cluster.of("a").round = 2;
  cluster.deliver(onItsWay);
  assert.equal(cluster.of("a").spare, 0);
  assert.equal(cluster.of("b").spare, 3);
});

test("nothing is lent to a node that reported to another round, or while lending is off", () => {
  for (const round of [2, null]) {
    const cluster = new Cluster({ a: 0, b: 6 });
    ask(cluster.of("a"));
    cluster.of("b").round = round;
    cluster.deliver();
    cluster.deliver();
    assert.deepEqual([cluster.of("a").spare, cluster.of("b").spare], [0, 6]);
  }
});

test("rounds of different views are different rounds", () => {
  const cluster = new Cluster({ a: 0, b: 6 });
  cluster.of("b").lending.start(2);
  ask(cluster.of("a"));
  cluster.deliver();
  cluster.deliver();
  assert.equal(cluster.of("b").spare, 6);
});

test("however rounds and loans cross each other, no slot exists twice", () => {
  const capacity = 6;
  // Four things happen in any order that messages allow: the question, the answer, and each one's report.
  for (const order of [
    "abQA",
    "aQbA",
    "aQAb",
    "baQA",
    "bQaA",
    "bQAa",
    "QabA",
    "QbaA",
    "QaAb",
    "QbAa",
    "QAab",
    "QAba",
  ]) {
    const cluster = new Cluster({ a: 0, b: capacity });
    ask(cluster.of("a"));
    let reported = 0;
    for (const what of order) {
      if (what === "Q" || what === "A") cluster.deliver();
      else {
        cluster.of(what).round = 2;
        reported += cluster.of(what).spare;
      }
    }
    // The round hands out whatever nobody reported.
    const missing = capacity - reported;
    assert.ok(cluster.spare() + missing <= capacity, `${order}: ${cluster.spare()} and ${missing} more`);
  }
});

test("an answer counts once, from a node that was asked, and never takes anything away", () => {
  const cluster = new Cluster({ a: 0, b: 6, c: 0 });
  const a = cluster.of("a");
  ask(a);
  const lent = (slots: number): LendingBody => ({
    ...{ kind: "lent", room: "r", number: 1, slots, leave: 0, round: "1/1" },
  });
  a.lending.receive("x", lent(5));
  a.lending.receive("c", lent(-5));
  a.lending.receive("c", lent(5));
  assert.equal(a.spare, 0, "a stranger's, and one that was answered badly");
  a.lending.receive("b", lent(2));
  a.lending.receive("b", lent(2));
  assert.equal(a.spare, 2);
});

test("during a round newcomers wait for its announcement, and no node is asked", () => {
  const cluster = new Cluster({ a: 0, b: 6 });
  const a = cluster.of("a");
  a.isRoundOpen = true;
  const { isAsked, called } = ask(a);
  assert.ok(isAsked);
  assert.deepEqual(a.sent(), []);
  a.isRoundOpen = false;
  a.lending.refresh("r");
  assert.equal(called(), 1);
});

test("another view ends the wait of all newcomers, and a lone node asks nobody", () => {
  const cluster = new Cluster({ a: 0, b: 6 });
  const { called } = ask(cluster.of("a"));
  cluster.of("a").lending.start(2);
  assert.equal(called(), 1);
  cluster.of("a").peers = [];
  assert.equal(ask(cluster.of("a")).isAsked, false);
});
