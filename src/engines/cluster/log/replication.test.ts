import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RULES } from "../../../core/rules.ts";
import {
  committed,
  foundingView,
  type View,
  withMember,
  withoutDead,
  withoutLost,
} from "../membership/view.ts";
import { ADMITTED, ON_SITE, SELF, WAITING } from "../visitors/place.ts";
import { RoomBooks } from "../visitors/room-books.ts";
import { type Entry, HOW, OP } from "./entries.ts";
import { blockOf } from "./entry-blocks.ts";
import { keyAt } from "./order-clock.ts";
import { Replication, type ReplicationBody } from "./replication.ts";
import { homeOf } from "./takeover.ts";

const START = Date.UTC(2026, 0, 1);
const PERIOD_MS = 50;
const LATER = START + 3_600_000;

/** A node's books of one room, and its part in having them everywhere. */
class Peer {
  readonly id: string;
  readonly number: number;
  readonly rooms = new Map<string, RoomBooks>();
  readonly replication: Replication;

  constructor(name: string, number: number) {
    this.id = `${name}#1`;
    this.number = number;
    this.replication = new Replication(this.id, this.rooms, PERIOD_MS);
    this.open();
  }

  get books(): RoomBooks {
    return this.rooms.get("r")!;
  }

  open(): void {
    const nothing = () => {};
    const events = { onTurns: nothing, onRevoked: nothing, onDraw: nothing, onRemark: nothing };
    const onWritten = (entry: Entry) => this.replication.write("r", entry);
    const self = { index: SELF, owner: this.id };
    const books = new RoomBooks({
      ...{ name: "r", rules: DEFAULT_RULES, self, now: START },
      events: { ...events, onWritten },
    });
    this.rooms.set("r", books);
  }

  /** The n-th key that this node gives out. */
  key(n: number): number {
    return keyAt({ at: START + n, node: this.number });
  }

  wait(...ns: number[]): void {
    for (const n of ns) this.books.write([OP.wait, this.key(n), 0, HOW.new, ""]);
  }

  /** Keys in the line as this node knows it, with their owners. */
  line(): string[] {
    const { lines, places } = this.books;
    return Array.from({ length: lines.size }, (_, rank) => lines.at(0, rank)).map(
      (key) => `${key} ${places.get(key)!.claim.owner}`,
    );
  }
}

class Cluster {
  readonly peers: readonly Peer[];
  view: View;
  now = START;
  /** Which messages arrive. */
  arrives: (from: string, to: string) => boolean = () => true;

  constructor(names: string) {
    this.peers = [...names].map((name, number) => new Peer(name, number));
    let view = foundingView(memberOf(names[0]!));
    for (const name of names.slice(1)) view = committed(withMember(view, memberOf(name), 0)!);
    this.view = view;
    this.start(view);
  }

  of(name: string): Peer {
    return this.peers.find(({ id }) => id === `${name}#1`)!;
  }

  /** Members of the view, or those named, take it up. */
  start(view: View, names: string = view.members.map(({ name }) => name).join("")): void {
    this.view = view;
    for (const name of names) this.of(name).replication.start(view, this.now);
  }

  run(forMs: number): void {
    for (const end = this.now + forMs; this.now < end; this.now += PERIOD_MS) {
      for (const { replication } of this.peers) replication.tick(this.now);
      for (let i = 0; i < 4; i++) this.#deliver();
    }
  }

  #deliver(): void {
    for (const { id, replication } of this.peers)
      for (const { to, body } of replication.takeOutbox())
        if (this.arrives(id, to)) this.#peer(to).replication.receive(id, structuredClone(body), this.now);
  }

  #peer(id: string): Peer {
    return this.peers.find((peer) => peer.id === id)!;
  }
}

const memberOf = (name: string) => ({ name, life: 1, address: name });
const lost = (view: View, ...names: string[]) =>
  withoutLost(view, new Set(names.map((name) => `${name}#1`)), 0);

/** Loses two messages of three, the same ones each time. */
function lossy(): () => boolean {
  let state = 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return state % 3 === 0;
  };
}

test("what one node writes all know, also when messages are lost", () => {
  for (const isLossy of [false, true]) {
    const cluster = new Cluster("abc");
    if (isLossy) cluster.arrives = lossy();
    for (let n = 0; n < 30; n++) {
      for (const peer of cluster.peers) peer.wait(n);
      cluster.run(PERIOD_MS);
    }
    cluster.run(5_000);
    const [a, b, c] = cluster.peers.map((peer) => peer.line());
    assert.equal(a!.length, 90);
    assert.deepEqual(a, b);
    assert.deepEqual(a, c);
    assert.ok(cluster.peers.every(({ replication }) => replication.isSettled));
  }
});

test("what one writes goes along the tree, and around a neighbour that does not answer", () => {
  const cluster = new Cluster("abcdefgh");
  const messages = new Set<string>();
  cluster.run(500);
  cluster.arrives = (from, to) => {
    messages.add(`${from[0]}${to[0]}`);
    return true;
  };
  cluster.of("e").wait(0);
  cluster.run(1_000);
  for (const { books } of cluster.peers) assert.equal(books.lines.size, 1);
  // From b to e there is nothing to say but that it was read; f is a buddy of e, which has one neighbour only.
  assert.deepEqual([...messages].sort().join(" "), "ab ac ad ba be bf bg ca ch da eb ef fb fe gb hc");
  cluster.arrives = (from, to) => from !== "b#1" && to !== "b#1";
  cluster.of("e").wait(1);
  cluster.run(2_000);
  for (const { id, books } of cluster.peers) assert.equal(books.lines.size, id === "b#1" ? 1 : 2, id);
});

test("entries after a gap are not read until what is missing has come", () => {
  const cluster = new Cluster("ab");
  cluster.run(500);
  const [a, b] = [cluster.of("a"), cluster.of("b")];
  a.wait(0, 1, 2);
  const entries = (from: number, n: number): ReplicationBody => ({
    ...{ kind: "entries", log: "a#1", from, isUrgent: false, copy: null },
    blocks: [blockOf([{ room: "r", entry: [OP.wait, a.key(n), 0, HOW.new, ""] }])],
  });
  b.replication.receive("a#1", entries(1, 1), cluster.now);
  assert.equal(b.replication.headOf("a#1"), 0);
  b.replication.receive("a#1", entries(0, 0), cluster.now);
  b.replication.receive("a#1", entries(0, 0), cluster.now);
  assert.equal(b.replication.headOf("a#1"), 1);
  assert.equal(b.books.lines.size, 1);
});

test("a reader that is further behind than a log goes back gets a copy, in parts, and continues from there", () => {
  const cluster = new Cluster("abc");
  const [a, b, c] = cluster.peers as [Peer, Peer, Peer];
  cluster.arrives = (from, to) => from !== "c#1" && to !== "c#1";
  const people = 4_500;
  for (let n = 0; n < people; n++) a.wait(n);
  for (let i = 0; i < 36_000; i++) a.books.write([OP.invite, "code", LATER]);
  a.books.write([OP.turn, a.key(0), 0, 0, LATER, START, LATER]);
  cluster.run(1_000);
  cluster.arrives = lossy();
  cluster.run(5_000);
  a.wait(people);
  cluster.run(5_000);
  for (const { books } of [b, c]) {
    assert.equal(books.lines.size, people);
    assert.equal(books.turns, 1);
    assert.equal(books.tallies.totalsOf(1).joined + books.tallies.totalsOf(2).joined, people + 1);
    assert.ok(books.invites.has("code"));
  }
  assert.deepEqual(c.line(), a.line());
});

test("a room that is opened later is filled with what the others have of it", () => {
  const cluster = new Cluster("ab");
  const [a, b] = cluster.peers as [Peer, Peer];
  b.rooms.clear();
  for (let n = 0; n < 10; n++) a.wait(n);
  cluster.run(1_000);
  b.open();
  assert.equal(b.books.lines.size, 0);
  b.replication.openRoom(cluster.now);
  cluster.run(1_000);
  // It is settled already: how far it is, is told with whatever it is sent next.
  a.wait(10);
  cluster.run(2_000);
  assert.deepEqual(b.line(), a.line());
});

test("no node is settled before all have said how far they are", () => {
  const cluster = new Cluster("abc");
  cluster.arrives = (from) => from !== "c#1";
  cluster.run(2_000);
  assert.deepEqual(
    cluster.peers.map(({ replication }) => replication.isSettled),
    [false, false, true],
  );
  cluster.arrives = () => true;
  cluster.run(1_000);
  assert.ok(cluster.peers.every(({ replication }) => replication.isSettled));
});

test("what only one node has read of a gone owner, all read before they settle", () => {
  const cluster = new Cluster("abc");
  cluster.run(500);
  const c = cluster.of("c");
  c.wait(0, 1, 2);
  cluster.arrives = (from, to) => from === "c#1" && to === "a#1";
  cluster.run(500);
  assert.deepEqual(
    [cluster.of("a"), cluster.of("b")].map(({ replication }) => replication.headOf("c#1")),
    [3, 0],
  );
  cluster.start(lost(cluster.view, "c"));
  cluster.arrives = (from, to) => from !== "c#1" && to !== "c#1";
  cluster.run(2_000);
  assert.ok([cluster.of("a"), cluster.of("b")].every(({ replication }) => replication.isSettled));
  assert.deepEqual(cluster.of("a").line(), cluster.of("b").line());
  assert.equal(cluster.of("b").line().length, 3);
});

/** A cluster of three in which c has people everywhere, and is then not there any more. */
function withoutC(then: (view: View) => View, names = "ab"): Cluster {
  const cluster = new Cluster("abc");
  const c = cluster.of("c");
  c.wait(...Array.from({ length: 40 }, (_, n) => n));
  c.books.write([OP.turn, c.key(0), 0, 0, LATER, START, LATER]);
  c.books.write([OP.visit, c.key(1), 0, HOW.withTurn, "v", START, START, START, LATER]);
  cluster.run(1_000);
  cluster.arrives = (from, to) => names.includes(from[0]!) && names.includes(to[0]!);
  cluster.start(then(cluster.view), names);
  cluster.run(2_000);
  return cluster;
}

test("each place of a gone owner is taken over by exactly one member, the same for all", () => {
  for (const then of [(view: View) => lost(view, "c"), (view: View) => withoutDead(view, ["c#1"], 0)]) {
    const cluster = withoutC(then);
    const [a, b] = [cluster.of("a"), cluster.of("b")];
    assert.deepEqual(a.line(), b.line());
    for (const { books } of [a, b])
      for (const { key, claim } of books.places.values())
        assert.equal(claim.owner, homeOf(key, cluster.view));
    assert.equal(a.books.own.size + b.books.own.size, a.books.lines.size);
    assert.ok(a.books.own.size > 0 && b.books.own.size > 0, "both have some");
  }
});

test("of a lost owner, a turn becomes a waiting place again and a visit is borrowed: the slots stay with the owner", () => {
  const cluster = withoutC((view) => lost(view, "c"));
  const { books } = cluster.of("a");
  const c = cluster.of("c");
  assert.equal(books.places.get(c.key(0))!.claim.state, WAITING);
  assert.deepEqual(
    [books.places.get(c.key(1))!.claim.state, books.places.get(c.key(1))!.claim.isBorrowed],
    [ON_SITE, true],
  );
  for (const { books: own } of [cluster.of("a"), cluster.of("b")]) assert.equal(own.used, 0);
});

test("of an owner that died or left, turns and visits are taken over as they are", () => {
  const cluster = withoutC((view) => withoutDead(view, ["c#1"], 0));
  const { books } = cluster.of("b");
  const c = cluster.of("c");
  assert.equal(books.places.get(c.key(0))!.claim.state, ADMITTED);
  assert.equal(books.places.get(c.key(1))!.claim.isBorrowed, false);
  assert.equal(cluster.of("a").books.used + cluster.of("b").books.used, 2);
});

test("a borrowed visit becomes the borrower's own once its lender is known to be dead", () => {
  const cluster = withoutC((view) => lost(view, "c"));
  cluster.start(withoutDead(cluster.view, ["c#1"], 0));
  cluster.run(2_000);
  assert.equal(cluster.of("a").books.used + cluster.of("b").books.used, 1);
});

test("a part without the majority takes nothing over from members that may still be alive", () => {
  const cluster = withoutC((view) => lost(view, "a", "b"), "c");
  assert.equal(cluster.view.isMajority, false);
  const c = cluster.of("c");
  assert.ok([...c.books.places.values()].every(({ claim }) => claim.origin === SELF));
  const other = new Cluster("abc");
  other.of("a").wait(0, 1, 2);
  other.run(500);
  other.arrives = () => false;
  other.start(lost(other.view, "a", "b"), "c");
  other.run(1_000);
  assert.equal(other.of("c").replication.isSettled, true);
  assert.equal(other.of("c").books.own.size, 0);
  assert.ok(
    other
      .of("c")
      .line()
      .every((one) => one.endsWith("a#1")),
  );
});

test("a lost member that is back finds its places taken over, and keeps those that were not", () => {
  const cluster = withoutC((view) => lost(view, "c"));
  const c = cluster.of("c");
  c.wait(100);
  cluster.arrives = () => true;
  cluster.start(
    committed({ ...cluster.view, version: 9, lost: [], members: new Cluster("abc").view.members }),
  );
  cluster.run(3_000);
  assert.equal(c.books.places.get(c.key(100))!.claim.origin, SELF);
  const owners = (peer: Peer) =>
    [...peer.books.places.values()].map(({ key, claim }) => `${key} ${claim.owner}`).sort();
  assert.deepEqual(owners(cluster.of("a")), owners(cluster.of("b")));
});

test("new nodes get the logs of those who left just before them", () => {
  const cluster = new Cluster("abc");
  const late = new Peer("d", 3);
  cluster.of("c").wait(0, 1, 2, 3, 4);
  cluster.run(500);
  const left = withoutDead(cluster.view, ["c#1"], 0);
  const grown = withMember(left, memberOf("d"), 0)!;
  (cluster.peers as Peer[]).push(late);
  cluster.arrives = (from, to) => !`${from}${to}`.includes("c");
  cluster.start(left);
  cluster.start(grown);
  cluster.run(3_000);
  assert.equal(late.line().length, 5);
  assert.deepEqual(late.line(), cluster.of("a").line());
});

test("waiting for a copy ends when one other node has it, or when there is no other node", () => {
  const cluster = new Cluster("ab");
  cluster.run(500);
  const [a] = cluster.peers as [Peer, Peer];
  let copied = 0;
  a.wait(0);
  a.replication.whenCopied(() => copied++, cluster.now);
  assert.equal(copied, 0);
  a.replication.flush(cluster.now);
  cluster.run(PERIOD_MS);
  assert.equal(copied, 1);
  cluster.arrives = () => false;
  a.wait(1);
  a.replication.whenCopied(() => copied++, cluster.now);
  cluster.run(1_400);
  assert.equal(copied, 1);
  cluster.run(200);
  assert.equal(copied, 2, "nobody waits for ever");
  cluster.start(lost(cluster.view, "b"), "a");
  a.replication.whenCopied(() => copied++, cluster.now);
  assert.equal(copied, 3);
});

test("messages of strangers and of other versions are ignored", () => {
  const cluster = new Cluster("ab");
  cluster.run(500);
  const [a, b] = cluster.peers as [Peer, Peer];
  const block = blockOf([{ room: "r", entry: [OP.wait, a.key(0), 0, HOW.new, ""] }]);
  const spoilt = [1, block[1].slice(1)];
  const entries = { kind: "entries", log: "a#1", from: 0, blocks: [block], isUrgent: false, copy: null };
  const hostile: unknown[] = [
    { ...entries, log: "x#1" },
    { ...entries, log: "b#1" },
    { ...entries, blocks: [spoilt, block] },
    { ...entries, from: 5, blocks: [spoilt], copy: { part: 0, parts: 1, totals: [] } },
    { kind: "read", logs: [["b#1", "all", 0]] },
    { kind: "read", logs: [["x#1", 1, 0]] },
    { kind: "heads", heads: 7, isAsking: true },
    { kind: "heads", heads: [["a#1", "1", 0]], isAsking: false },
  ];
  for (const body of hostile) b.replication.receive("a#1", body as ReplicationBody, cluster.now);
  b.replication.receive("x#1", { kind: "heads", heads: [["b#1", 0, 0]], isAsking: true }, cluster.now);
  assert.equal(b.books.places.size, 0);
  assert.deepEqual(
    b.replication.takeOutbox().filter(({ to }) => to === "x#1"),
    [],
  );
});
