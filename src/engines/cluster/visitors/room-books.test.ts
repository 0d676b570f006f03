import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DEFAULT_RULES, type RoomRules } from "../../../core/rules.ts";
import { type AdoptEntry, type Entry, HOW, OP } from "../log/entries.ts";
import { keyAt } from "../log/order-clock.ts";
import { ADMITTED, type Claim, isFirm, LAPSED, ON_SITE, SELF, WAITING } from "./place.ts";
import { RoomBooks } from "./room-books.ts";

const START = Date.UTC(2026, 0, 1);
const LATER = START + 600_000;
const KEY = keyAt({ at: START, node: 1 });

/** Books, what was written in them, and what listeners heard. */
function booksOf(owner = "self#1", rules: RoomRules = DEFAULT_RULES) {
  const written: Entry[] = [];
  const heard: unknown[] = [];
  const books = new RoomBooks({
    ...{ name: "r", rules, self: { index: SELF, owner }, now: START },
    events: {
      onTurns: (keys) => heard.push(...keys),
      onRevoked: (id) => heard.push(id),
      onDraw: () => heard.push("draw"),
      onRemark: () => {},
      onWritten: (entry) => written.push(entry) - 1,
    },
  });
  return { books, written, heard };
}

const origin = (index: number) => ({ index, owner: `${"?xyz"[index]}#1` });

/** Reads a log from its first entry on. */
function read(books: RoomBooks, index: number, log: readonly Entry[]): void {
  for (const [at, entry] of log.entries()) books.apply(entry, origin(index), at);
}

test("a place of this node's goes from waiting to a turn to a visit to its end, and counts as what it is", () => {
  const { books } = booksOf();
  const now = () => [books.lines.size, books.own.size, books.turns, books.onSite, books.used];
  books.write([OP.wait, KEY, 0, HOW.new, ""]);
  assert.deepEqual(now(), [1, 1, 0, 0, 0]);
  books.write([OP.turn, KEY, 0, 0, LATER, START, LATER]);
  assert.deepEqual(now(), [0, 0, 1, 0, 1]);
  books.write([OP.visit, KEY, 0, HOW.withTurn, "v", START, START, START + 5, LATER]);
  assert.deepEqual(now(), [0, 0, 0, 1, 1]);
  assert.equal(books.visits.get("v")?.key, KEY);
  books.write([OP.gone, KEY, 0, HOW.left, LATER, "v"]);
  assert.deepEqual(now(), [0, 0, 0, 0, 0]);
  assert.equal(books.visits.has("v"), false);
  assert.deepEqual([...books.ended], [["v", LATER]]);
  const { joined, admitted, entered, left, waitedMs } = books.tallies.totalsOf(SELF);
  assert.deepEqual([joined, admitted, entered, left, waitedMs], [1, 1, 1, 1, 5]);
});

test("places of other owners are in the line, and use none of this node's slots", () => {
  const { books } = booksOf();
  books.held = 2;
  read(books, 1, [
    [OP.wait, KEY, 0, HOW.new, ""],
    [OP.wait, KEY + 64, 0, HOW.new, ""],
    [OP.turn, KEY, 0, 0, LATER, START, LATER],
  ]);
  assert.deepEqual([books.lines.size, books.own.size, books.turns, books.ownTurns], [1, 0, 1, 0]);
  assert.equal(books.spare, 2);
  books.write([OP.visit, KEY + 1, 0, HOW.through, "v", START, START, START, LATER]);
  assert.equal(books.spare, 1);
});

test("totals tell what happened, by owner; a takeover does not count", () => {
  const { books } = booksOf();
  read(books, 1, [
    [OP.wait, KEY, 0, HOW.new, ""],
    [OP.lapse, KEY, 0, HOW.unseen, LATER],
    [OP.wait, KEY, 0, HOW.returned, ""],
    [OP.turn, KEY, 0, 0, LATER, START, LATER],
    [OP.lapse, KEY, 0, HOW.missed, LATER],
    [OP.visit, KEY + 64, 0, HOW.through, "v", START, START, START, LATER],
    [OP.gone, KEY + 64, 0, HOW.revoked, LATER, "v"],
    [OP.gone, KEY, 0, HOW.expired, LATER, ""],
  ]);
  const before = { ...books.tallies.totalsOf(1) };
  assert.deepEqual(
    [before.joined, before.lapsed, before.returned, before.missedTurns, before.straightThrough],
    [2, 1, 1, 1, 1],
  );
  assert.deepEqual([before.revoked, before.expired, before.left], [1, 1, 0]);
  read(books, 2, [[OP.adopt, 3, 0, ["x#1", 8], [OP.gone, KEY, 0, HOW.asBefore, LATER, ""]]]);
  assert.deepEqual(books.tallies.totalsOf(1), before);
  assert.equal(
    Object.values(books.tallies.totalsOf(2)).reduce((sum, count) => sum + count, 0),
    0,
  );
});

test("what was taken over is void however late it is read, and what its owner wrote after that is not", () => {
  const { books } = booksOf();
  read(books, 2, [[OP.adopt, 3, 0, ["x#1", 2], [OP.wait, KEY, 0, HOW.asBefore, ""]]]);
  read(books, 1, [
    [OP.wait, KEY, 0, HOW.new, ""],
    [OP.turn, KEY, 0, 0, LATER, START, LATER],
  ]);
  const place = books.places.get(KEY)!;
  assert.deepEqual([place.claim.owner, place.claim.state, place.others], ["y#1", WAITING, null]);
  books.apply([OP.turn, KEY, 0, 0, LATER, START, LATER], origin(1), 2);
  assert.deepEqual([place.claim.owner, place.claim.state], ["x#1", ADMITTED]);
});

test("voids go along from owner to owner", () => {
  const { books } = booksOf();
  read(books, 2, [[OP.adopt, 3, 0, ["x#1", 2], [OP.wait, KEY, 0, HOW.asBefore, ""]]]);
  const { books: other } = booksOf();
  for (const entry of books.entriesOf(2)) other.apply(entry, origin(2), 0);
  read(other, 1, [
    [OP.wait, KEY, 0, HOW.new, ""],
    [OP.turn, KEY, 0, 0, LATER, START, LATER],
  ]);
  assert.equal(other.places.get(KEY)!.claim.owner, "y#1");
});

test("when two owners have a place, the one whose claim loses remembers to let go of it", () => {
  const { books } = booksOf();
  books.write([OP.wait, KEY, 0, HOW.new, ""]);
  read(books, 1, [[OP.adopt, 3, 0, [], [OP.turn, KEY, 0, HOW.asBefore, LATER, START, LATER]]]);
  assert.deepEqual([books.own.size, books.turns], [0, 1]);
  assert.deepEqual(new Set(books.lostKeys), new Set([KEY]));
  books.write([OP.yield, KEY]);
  assert.equal(books.places.get(KEY)!.others, null);
});

test("a node that was taken for lost and is alive keeps the place, and remembers to say so", () => {
  const { books } = booksOf();
  books.write([OP.wait, KEY, 0, HOW.new, ""]);
  books.write([OP.turn, KEY, 0, 0, LATER, START, LATER]);
  read(books, 1, [[OP.adopt, 3, 0, ["self#1", 1], [OP.wait, KEY, 0, HOW.asBefore, ""]]]);
  assert.equal(books.places.get(KEY)!.claim.origin, SELF);
  assert.equal(books.used, 1);
  assert.deepEqual(books.heldKeys, [KEY]);
});

test("a borrowed visit is on the site and uses no slot of this node's", () => {
  const { books } = booksOf();
  const visit: AdoptEntry[4] = [OP.visit, KEY, 0, HOW.asBefore, "v", START, START, 0, LATER];
  books.write([OP.adopt, 3, 1, ["x#1", 5], visit]);
  assert.deepEqual([books.onSite, books.ownVisits], [1, 0]);
  books.write([OP.adopt, 3, 0, [], visit]);
  assert.deepEqual([books.onSite, books.ownVisits], [1, 1]);
});

test("a visit that begins after a borrowed one has ended uses a slot", () => {
  const { books } = booksOf();
  const visit = [OP.visit, KEY, 0, HOW.withTurn, "v", START, START, START, LATER] as const;
  books.write([OP.adopt, 3, 1, [], visit]);
  books.write([OP.wait, KEY, 0, HOW.returned, ""]);
  books.write(visit);
  assert.equal(books.ownVisits, 1);
});

test("only this node's own places have deadlines here", () => {
  const { books } = booksOf();
  books.write([OP.wait, KEY, 0, HOW.new, ""]);
  books.await(books.places.get(KEY)!, START + 100);
  books.await(books.places.get(KEY)!, START + 200);
  books.write([OP.wait, KEY + 1, 0, HOW.new, ""]);
  books.write([OP.turn, KEY + 1, 0, 0, START + 100, START, START + 100]);
  read(books, 1, [[OP.turn, KEY + 2, 0, 0, START + 100, START, START + 100]]);
  const keysDue = (state: typeof WAITING | typeof ADMITTED, now: number) =>
    [...books.due(state, now)].map(({ key }) => key);
  assert.deepEqual(keysDue(WAITING, START + 150), []);
  assert.deepEqual(keysDue(ADMITTED, START + 100), [KEY + 1]);
  assert.deepEqual(keysDue(WAITING, START + 200), [KEY]);
});

test("what no valid ticket, pass or code can refer to is forgotten, and waiting visitors are not", () => {
  const { books } = booksOf();
  read(books, 1, [
    [OP.wait, KEY, 0, HOW.new, ""],
    [OP.wait, KEY + 64, 0, HOW.new, ""],
    [OP.gone, KEY, 0, HOW.left, LATER, ""],
    [OP.invite, "code", LATER],
    [OP.visit, KEY + 128, 0, HOW.through, "v", START, START, START, LATER],
    [OP.gone, KEY + 128, 0, HOW.left, LATER, "v"],
  ]);
  books.forget(LATER - 1);
  assert.deepEqual([books.places.size, books.over.size], [1, 2]);
  assert.deepEqual([books.invites.size, books.ended.size], [1, 1]);
  books.forget(LATER);
  assert.deepEqual([books.invites.size, books.ended.size], [0, 0]);
  assert.equal(books.over.size, 2, "clocks differ");
  books.forget(LATER + DEFAULT_RULES.ticketTtlMs + 3_600_000);
  assert.deepEqual([...books.places.keys()], [KEY + 64]);
  assert.equal(books.over.size, 0);
});

test("a place that is over stays over, whatever entries arrive later", () => {
  const { books } = booksOf();
  books.write([OP.visit, KEY, 0, HOW.through, "v", START, START, START, LATER]);
  read(books, 1, [[OP.gone, KEY, 0, HOW.left, LATER, "v"]]);
  assert.deepEqual([books.onSite, books.used, books.places.size, books.over.has(KEY)], [0, 0, 0, true]);
  books.write([OP.wait, KEY, 0, HOW.returned, ""]);
  read(books, 2, [[OP.adopt, 9, 0, ["b#1", 9], [OP.turn, KEY, 0, HOW.asBefore, LATER, START, LATER]]]);
  assert.deepEqual([books.turns, books.lines.size, books.places.size], [0, 0, 0]);
  assert.equal(books.tallies.totalsOf(SELF).returned, 1, "what happened is counted all the same");
});

test("the log that tells newcomers of a place that is over is the same for all who have read the same", () => {
  const said: [number, Entry][] = [
    [1, [OP.gone, KEY, 0, HOW.left, LATER, ""]],
    [2, [OP.gone, KEY, 0, HOW.left, LATER + 1, ""]],
    [3, [OP.adopt, 4, 0, [], [OP.gone, KEY, 0, HOW.asBefore, LATER, ""]]],
  ];
  for (const order of [said, said.toReversed(), [said[1]!, said[2]!, said[0]!]]) {
    const { books } = booksOf();
    for (const [index, entry] of order) read(books, index, [entry]);
    assert.deepEqual([books.over.get(KEY)!.origin, books.over.get(KEY)!.until], [3, LATER + 1]);
    assert.deepEqual(
      [1, 2, 3].map((index) => [...books.entriesOf(index)].length),
      [0, 0, 1],
    );
  }
  for (const order of [said.slice(0, 2), said.slice(0, 2).toReversed()]) {
    const { books } = booksOf();
    for (const [index, entry] of order) read(books, index, [entry]);
    assert.equal(books.over.get(KEY)!.origin, 1);
  }
});

test("listeners hear of turns together, and of a visit's end at once", () => {
  const { books, heard } = booksOf();
  read(books, 1, [
    [OP.turn, KEY, 0, 0, LATER, START, LATER],
    [OP.turn, KEY + 64, 0, 0, LATER, START, LATER],
    [OP.gone, KEY, 0, HOW.left, LATER, "v"],
  ]);
  assert.deepEqual(heard, ["v"]);
  books.tellTurns();
  books.tellTurns();
  assert.deepEqual(heard, ["v", KEY, KEY + 64]);
});

// Logs of three owners about the same few places, as random as entries can be.

const KEYS = [0, 1, 2, 3].map((n) => keyAt({ at: START + n, node: n }));

interface Said {
  readonly place: number;
  readonly what: number;
  readonly until: number;
  /** 0: not taken over. */
  readonly epoch: number;
  readonly isBorrowed: boolean;
  /** Taken over from that other owner, so much of its log. */
  readonly from: number;
  readonly share: number;
}

const said = fc.record<Said>({
  place: fc.nat({ max: 3 }),
  what: fc.nat({ max: 8 }),
  until: fc.integer({ min: START, max: LATER }),
  epoch: fc.nat({ max: 4 }),
  isBorrowed: fc.boolean(),
  from: fc.nat({ max: 2 }),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
});

function standing({ place, what, until }: Said): AdoptEntry[4] {
  const key = KEYS[place]!;
  if (what === 1) return [OP.lapse, key, 0, HOW.unseen, until];
  if (what === 2) return [OP.turn, key, 0, 0, until, START, until];
  if (what === 3) return [OP.visit, key, 0, HOW.withTurn, `v${place}`, START, START, START, until];
  if (what === 4) return [OP.gone, key, 0, HOW.left, until, ""];
  if (what === 6) return [OP.gone, key, 0, HOW.left, until, `v${place}`];
  return [OP.wait, key, 0, HOW.new, ""];
}

/** A place is set back further each time; nobody gives out a number that another gave. */
function backOf({ place, epoch }: Said, owner: number): Entry {
  const key = KEYS[place]!;
  return [OP.back, key, key + 8 * epoch + owner + 1, key, epoch + 1, START];
}

/** What the three owners wrote down. */
function logsOf(all: readonly (readonly Said[])[]): Entry[][] {
  /** By owner and place: from where on entries count, as far as anyone said. */
  const heads = new Map<string, number[]>();
  const logs = all.map((log, owner) =>
    log.map((one): Entry => {
      if (one.what === 5) return [OP.touch, KEYS[one.place]!, one.until];
      if (one.what === 7) return [OP.loose, KEYS[one.place]!];
      if (one.what === 8) return backOf(one, owner);
      if (one.epoch === 0) return standing(one);
      if (one.from === owner) return [OP.adopt, one.epoch, Number(one.isBorrowed), [], standing(one)];
      const head = Math.floor(one.share * all[one.from]!.length);
      const at = `${one.from}/${one.place}`;
      heads.set(at, [...(heads.get(at) ?? []), head]);
      return [OP.adopt, one.epoch, Number(one.isBorrowed), [origin(one.from + 1).owner, head], standing(one)];
    }),
  );
  for (const [at, from] of heads) {
    const [owner, place] = at.split("/").map(Number) as [number, number];
    for (const head of from) saySo(logs[owner]!, KEYS[place]!, head);
  }
  return logs;
}

/** An owner whose place was taken over first tells how it really is. */
function saySo(log: Entry[], key: number, head: number): void {
  const isOfState = (op: number) => op !== OP.touch && op !== OP.loose && op !== OP.back;
  const at = log.findIndex((entry, index) => index >= head && isOfState(entry[0]) && entry[1] === key);
  const entry = log[at];
  if (entry && entry[0] !== OP.adopt) log[at] = [OP.adopt, 1, 0, [], entry as AdoptEntry[4]];
}

/** Reads all logs to their ends, from whichever the next of `turns` says. */
function readAll(books: RoomBooks, logs: readonly (readonly Entry[])[], turns: readonly number[]): void {
  const heads = logs.map(() => 0);
  const next = (owner: number) => {
    const at = heads[owner]!++;
    books.apply(logs[owner]![at]!, origin(owner + 1), at);
  };
  const isLeft = (owner: number) => heads[owner]! < logs[owner]!.length;
  for (const turn of turns) if (isLeft(turn)) next(turn);
  for (const owner of logs.keys()) while (isLeft(owner)) next(owner);
}

const claimText = ({ owner, state, until, epoch, isBorrowed, firmUntil }: Claim) =>
  `${owner} ${state} ${until} ${epoch} ${isBorrowed} ${firmUntil}`;

function stateOf(books: RoomBooks): unknown {
  const places = KEYS.map((key) => books.places.get(key)).map(
    (place) =>
      place && [place.sequence, place.missedTurns, [place.claim, ...(place.others ?? [])].map(claimText)],
  );
  const { lines, own, turns, looseTurns, onSite, lapsed, visits } = books;
  const ended = [...books.ended].sort();
  const line = Array.from({ length: lines.size }, (_, rank) => lines.at(0, rank));
  const over = KEYS.map((key) => books.over.get(key)).map(
    (place) => place && { ...place, epoch: 0, origin: 0 },
  );
  return {
    ...{ places, over, ended, line, own: own.size, turns, looseTurns, onSite, lapsed },
    visits: [...visits.keys()].sort(),
  };
}

/** A key is in the line exactly when the claim that counts says so, and counts follow from those claims. */
function assertInvariants(books: RoomBooks): void {
  const places = [...books.places.values()];
  const keysIn = (state: number) => places.filter(({ claim }) => claim.state === state).map(({ key }) => key);
  const waiting = places.filter(({ claim }) => claim.state === WAITING).map(({ sequence }) => sequence);
  waiting.sort((a, b) => a - b);
  for (const place of places) assert.equal(books.placeAt(place.sequence), place);
  assert.deepEqual(
    Array.from({ length: books.lines.size }, (_, rank) => books.lines.at(0, rank)),
    waiting,
  );
  assert.deepEqual(
    [books.turns + books.looseTurns, books.onSite, books.lapsed],
    [keysIn(ADMITTED).length, keysIn(ON_SITE).length, keysIn(LAPSED).length],
  );
  const own = places.filter(({ claim }) => claim.origin === SELF);
  assert.equal(books.own.size, own.filter(({ claim }) => claim.state === WAITING).length);
  assert.equal(books.ownTurns, own.filter(isFirm).length);
  assert.equal(
    books.ownVisits,
    own.filter(({ claim }) => claim.state === ON_SITE && !claim.isBorrowed).length,
  );
}

const threeLogs = fc.array(fc.array(said, { maxLength: 12 }), { minLength: 3, maxLength: 3 });
const turnsOf = fc.array(fc.nat({ max: 2 }), { maxLength: 40 });

test("nodes that have read the same logs have the same books, in whatever order they were read", () => {
  fc.assert(
    fc.property(threeLogs, turnsOf, turnsOf, (all, turns, others) => {
      const logs = logsOf(all);
      const [one, other] = [booksOf("p#1").books, booksOf("q#1").books];
      readAll(one, logs, turns);
      readAll(other, logs, others);
      assertInvariants(one);
      assert.deepEqual(stateOf(one), stateOf(other));
      for (const index of [1, 2, 3])
        assert.deepEqual(one.tallies.totalsOf(index), other.tallies.totalsOf(index));
    }),
    { numRuns: 400 },
  );
});

test("what a takeover made void stays void, though another took the place over before it was read", () => {
  const [key] = KEYS as [number];
  const wait: AdoptEntry[4] = [OP.wait, key, 0, HOW.new, ""];
  const logs: Entry[][] = [
    [wait],
    [[OP.adopt, 1, 0, [origin(3).owner, 1], wait]],
    [
      [OP.adopt, 1, 0, [origin(1).owner, 1], wait],
      [OP.adopt, 1, 0, [], wait],
    ],
  ];
  const [one, other] = [booksOf("p#1").books, booksOf("q#1").books];
  readAll(one, logs, [2]);
  readAll(other, logs, []);
  assert.deepEqual(stateOf(one), stateOf(other));
});

test("a copy of what each owner has makes the same books", () => {
  fc.assert(
    fc.property(threeLogs, turnsOf, (all, turns) => {
      const logs = logsOf(all);
      const [one, other] = [booksOf("p#1").books, booksOf("q#1").books];
      readAll(one, logs, turns);
      readAll(other, logs, []);
      for (const index of [1, 2, 3]) {
        other.forgetOwner(index);
        for (const entry of one.entriesOf(index))
          other.apply(entry, origin(index), logs[index - 1]!.length - 1);
        assertInvariants(other);
      }
      assert.deepEqual(stateOf(other), stateOf(one));
    }),
    { numRuns: 200 },
  );
});

test("with a node's own entries among them, lines and counts still follow from the claims", () => {
  fc.assert(
    fc.property(threeLogs, turnsOf, (all, turns) => {
      const { books } = booksOf("x#1");
      const [own, ...others] = logsOf(all);
      const heads = [0, 0];
      for (const turn of [...turns, ...new Array(12).fill(0)]) {
        if (turn === 0) {
          const entry = own!.shift();
          if (entry) books.write(entry);
        } else {
          const at = heads[turn - 1]!++;
          const entry = others[turn - 1]![at];
          if (entry) books.apply(entry, origin(turn + 1), at);
        }
        assertInvariants(books);
      }
    }),
    { numRuns: 200 },
  );
});

test("an event with a lower capacity takes spare slots back, and only once", () => {
  const rules = { ...DEFAULT_RULES, totalActiveUsers: 10 };
  const event = { name: "sale", prequeueAt: null, startAt: START + 1_000, endAt: LATER, isShuffled: false };
  const events = [{ ...event, seed: "", rules: { ...rules, totalActiveUsers: 2 } }];
  const { books } = booksOf("self#1", { ...rules, events });
  books.rulesAt(START);
  books.write([OP.visit, KEY, 0, HOW.through, "v", START, START, START, LATER]);
  books.held = 8;
  books.rulesAt(START + 999);
  assert.equal(books.spare, 7);
  books.rulesAt(START + 1_000);
  assert.equal(books.spare, 0);
  books.held = 2;
  books.rulesAt(START + 2_000);
  assert.equal(books.spare, 1);
});
