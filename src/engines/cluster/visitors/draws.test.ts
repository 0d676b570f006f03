import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { drawOrder } from "../../../core/draw.ts";
import { DEFAULT_RULES, type EventRules } from "../../../core/rules.ts";
import { NONE_MISSED, type Ticket } from "../../../core/ticket.ts";
import { type DrawnEntry, type Entry, HOW, OP } from "../log/entries.ts";
import { keyAt } from "../log/order-clock.ts";
import { Draws } from "./draws.ts";
import { ADMITTED, SELF } from "./place.ts";
import { RoomBooks } from "./room-books.ts";

const OPENS_AT = Date.UTC(2026, 0, 1);
const STARTS_AT = OPENS_AT + 60_000;
const ENDS_AT = STARTS_AT + 3_600_000;
const LATER = ENDS_AT;

const EVENT: EventRules = {
  ...{ name: "sale", prequeueAt: OPENS_AT, startAt: STARTS_AT, endAt: ENDS_AT, isShuffled: true },
  ...{ seed: "5a".repeat(32), rules: DEFAULT_RULES },
};

const idOf = (n: number) => n.toString(16).padStart(32, "0");

function ticketOf(n: number, key: number): Ticket {
  return {
    ...{ id: idOf(n), room: "r", lane: 0, joinedAt: OPENS_AT, sequence: key, draw: 0, issuedAt: OPENS_AT },
    ...{ expiresAt: LATER, node: 0, aheadShown: 0, aheadAtJoin: 0, ...NONE_MISSED },
  };
}

/** A node: its books, and the log it has written. */
class Node {
  readonly owner: string;
  readonly slot: number;
  readonly log: Entry[] = [];
  readonly books: RoomBooks;
  /** By owner, how far it has read. */
  readonly #heads = new Map<string, number>();
  readonly #indexes = new Map<string, number>();

  constructor(owner: string, slot: number) {
    this.owner = owner;
    this.slot = slot;
    const nothing = () => {};
    this.books = new RoomBooks({
      ...{
        name: "r",
        rules: { ...DEFAULT_RULES, events: [EVENT] },
        self: { index: SELF, owner },
        now: OPENS_AT,
      },
      events: {
        ...{ onTurns: nothing, onRevoked: nothing, onDraw: nothing, onRemark: nothing },
        onWritten: (entry) => this.log.push(entry) - 1,
      },
    });
  }

  /** Someone joins here in the n-th millisecond of the prequeue. */
  join(n: number): number {
    const key = keyAt({ at: OPENS_AT + n, node: this.slot });
    this.books.write([OP.wait, key, 0, HOW.new, this.books.isGathering(key) ? idOf(64 * n + this.slot) : ""]);
    return key;
  }

  /** Reads one more entry of another's log. False when there is none, or it must wait. */
  readOne({ owner, log }: Node): boolean {
    const at = this.#heads.get(owner) ?? 0;
    const entry = log[at];
    if (!entry || !this.books.isReadyFor(entry)) return false;
    if (!this.#indexes.has(owner)) this.#indexes.set(owner, this.#indexes.size + 1);
    this.books.apply(entry, { index: this.#indexes.get(owner)!, owner }, at);
    this.#heads.set(owner, at + 1);
    return true;
  }

  read(other: Node): void {
    while (this.readOne(other)) {}
  }

  /** Own keys that wait, from the front. */
  ownKeys(): number[] {
    const { own } = this.books;
    return Array.from({ length: own.size }, (_, rank) => own.at(0, rank));
  }

  /** Everyone's place, in order: key, whose it is and what it is. */
  state(): string[] {
    return [...this.books.places.values()]
      .sort((a, b) => a.key - b.key)
      .map(({ key, id, claim }) => `${key} ${id} ${claim.owner} ${claim.state}`);
  }
}

function draw(books: RoomBooks): void {
  books.draw(books.door.phase(STARTS_AT).event!, STARTS_AT);
}

interface Play {
  readonly joins: readonly number[];
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** Three nodes through a prequeue, a draw by the first, and what happens around it. */
function played({ joins, before, after }: Play): [Node, Node, Node] {
  const nodes: [Node, Node, Node] = [new Node("a#1", 0), new Node("b#1", 1), new Node("c#1", 2)];
  const [a, b, c] = nodes;
  for (const [n, at] of joins.entries()) nodes[at]!.join(n);
  for (const other of [b, c]) {
    other.books.closePool(STARTS_AT);
    a.read(other);
  }
  draw(a.books);
  // The others have not heard of it yet: what they write is about places as they were.
  for (const [n, at] of before.entries()) {
    const node = at === 1 ? b : c;
    const [key] = node.ownKeys().slice(n % 3);
    if (key !== undefined) node.books.write([OP.lapse, key, 0, HOW.unseen, LATER]);
  }
  b.read(a);
  c.read(b);
  c.read(a);
  c.read(b);
  for (const [n, at] of after.entries()) {
    const node = nodes[at]!;
    const [key] = node.ownKeys();
    if (key === undefined) continue;
    node.books.write(
      n % 2 ? [OP.turn, key, 0, 0, LATER, STARTS_AT, LATER] : [OP.gone, key, 0, HOW.left, LATER, ""],
    );
  }
  return nodes;
}

const play = fc.record<Play>({
  joins: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 12 }),
  before: fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 3 }),
  after: fc.array(fc.nat({ max: 2 }), { maxLength: 4 }),
});

test("everyone draws the same, in whatever order logs are read and whatever is written around the draw", () => {
  fc.assert(
    fc.property(play, fc.array(fc.nat({ max: 2 }), { maxLength: 60 }), (plot, turns) => {
      const nodes = played(plot);
      const [one, other] = [new Node("p#1", 5), new Node("q#1", 6)];
      for (const turn of turns) one.readOne(nodes[turn]!);
      for (const reader of [one, other, ...nodes])
        for (let i = 0; i < 3; i++) for (const node of nodes) if (node !== reader) reader.read(node);
      for (const reader of [other, ...nodes]) assert.deepEqual(reader.state(), one.state());
    }),
    { numRuns: 150 },
  );
});

test("the draw decides who gets which place, and tickets from before it are read with their new place", () => {
  const [a, b, c] = played({ joins: [0, 1, 2, 0, 1, 2, 1], before: [], after: [] });
  b.read(c);
  const pool = [0, 1, 2, 0, 1, 2, 1].map((slot, n) => ({
    key: keyAt({ at: OPENS_AT + n, node: slot }),
    n: 64 * n + slot,
  }));
  const expected = drawOrder(
    {
      size: pool.length,
      forEachRun: (visit) => {
        for (const { key, n } of pool) visit(key, 1, Buffer.from(idOf(n), "hex"));
      },
    },
    EVENT.seed,
  );
  for (const { books } of [a, b])
    for (const { key, n } of pool) {
      const current = books.draws.current(ticketOf(n, key));
      assert.equal(current.sequence, expected.sequenceFor(idOf(n)));
      assert.ok(current.draw > 0);
      assert.equal(books.draws.current(current), current, "a ticket is moved once");
      assert.equal(books.places.get(current.sequence)!.id, idOf(n));
    }
  assert.ok(
    pool.some(({ key, n }) => expected.sequenceFor(idOf(n)) !== key),
    "somebody has moved",
  );
});

test("what an owner writes after it has drawn is about places as they are then, for every reader", () => {
  const nodes = played({ joins: [0, 1, 2, 0, 1, 2, 1], before: [], after: [] });
  const [, b] = nodes;
  const [key] = b.ownKeys() as [number];
  b.books.write([OP.turn, key, 0, 0, LATER, STARTS_AT, LATER]);
  const reader = new Node("p#1", 5);
  for (let i = 0; i < 3; i++) for (const node of nodes) reader.read(node);
  for (const { books } of [b, reader]) {
    assert.equal(books.turns, 1);
    assert.equal(books.places.get(key)!.claim.state, ADMITTED);
  }
});

test("before the draw only the hash of the seed is public, and then the seed and everybody in it", () => {
  const [, b, c] = [0, 1, 2].map((slot) => new Node(`${"abc"[slot]}#1`, slot)) as [Node, Node, Node];
  b.join(1);
  const before = b.books.draws.record(EVENT, STARTS_AT)!;
  assert.deepEqual([before.seed, before.ids, before.size], [null, null, 1]);
  assert.equal(b.books.draws.announce(EVENT).seed, null);
  draw(b.books);
  c.read(b);
  for (const { books } of [b, c]) {
    const after = books.draws.record(EVENT, STARTS_AT)!;
    assert.deepEqual([after.seed, after.seedHash, after.drawnAt], [EVENT.seed, before.seedHash, STARTS_AT]);
    assert.equal(Buffer.from(after.ids!).toString("hex"), idOf(65));
  }
});

test("a node that reads of the draw before the whole pool waits with it", () => {
  const draws = new Draws();
  draws.expect(EVENT);
  const number = Math.floor(STARTS_AT / 1_000);
  const drawn: Entry = [OP.drawn, number, "sale", 2, STARTS_AT, LATER];
  assert.equal(draws.isReadyFor(drawn), false);
  draws.addToPool([OP.pool, number, "sale", [1, idOf(1)]], 1);
  assert.equal(draws.isReadyFor(drawn), false);
  draws.addToPool([OP.pool, number, "sale", [2, idOf(2)]], 1);
  assert.equal(draws.isReadyFor(drawn), true);
});

test("the closed pool takes nobody in, and latecomers stay behind the draw", () => {
  const node = new Node("a#1", 0);
  node.join(1);
  node.books.closePool(STARTS_AT);
  const late = node.join(2);
  draw(node.books);
  assert.equal(node.books.draws.record(EVENT, STARTS_AT)!.size, 1);
  assert.equal(node.books.places.get(late)!.key, late);
});

test("a visitor who is admitted while people gather ends that: they are served in order of joining", () => {
  const node = new Node("a#1", 0);
  const keys = [1, 2, 3].map((n) => node.join(n));
  assert.equal(node.books.draws.isGathered(EVENT, keys[1]!), true);
  node.books.write([OP.turn, keys[0]!, 0, 0, LATER, OPENS_AT, LATER]);
  assert.equal(node.books.draws.isGathered(EVENT, keys[1]!), false);
});

test("a large pool is written down in several entries, and a draw is forgotten with its tickets", () => {
  const draws = new Draws();
  for (let n = 0; n < 2_500; n++) draws.gather(EVENT, n, idOf(n));
  const entries = [...draws.entriesToDraw(EVENT, STARTS_AT, 1_000)];
  assert.deepEqual(
    entries.map(([op]) => op),
    [OP.pool, OP.pool, OP.pool, OP.drawn],
  );
  for (const entry of entries) {
    if (entry[0] === OP.pool) draws.addToPool(entry, 1);
    else draws.draw(entry, SELF);
  }
  assert.equal(draws.isDrawn(EVENT), true);
  assert.equal([...draws.entries()].length, 4, "for someone who knows nothing yet");
  draws.forget(ENDS_AT - 1);
  assert.equal(draws.hasMoved, true);
  draws.forget(ENDS_AT);
  assert.equal(draws.hasMoved, false);
});

test("a pool that a root wrote and never drew is not mixed into another's", () => {
  const draws = new Draws();
  draws.expect(EVENT);
  const number = Math.floor(STARTS_AT / 1_000);
  draws.addToPool([OP.pool, number, "sale", [1, idOf(1), 9, idOf(9)]], 1);
  draws.addToPool([OP.pool, number, "sale", [1, idOf(1), 2, idOf(2), 3, idOf(3)]], 2);
  const drawn: DrawnEntry = [OP.drawn, number, "sale", 3, STARTS_AT, ENDS_AT];
  assert.ok(draws.isReadyFor(drawn));
  const { from } = draws.draw(drawn, 2)!;
  assert.ok(!from.includes(9));
  assert.equal(draws.record(EVENT, STARTS_AT)!.size, 3);
});
