/** Each check with a small history made by hand: what it must complain of, and what it must not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TicketAnswer } from "../../../core/engine.ts";
import { AHEAD_UNKNOWN, NONE_MISSED, type Ticket } from "../../../core/ticket.ts";
import type { AnsweredNotice, Check, Notice } from "../notice.ts";
import type { SimNodeStatus } from "../sim-node.ts";
import { Capacity } from "./capacity.ts";
import { Forgery } from "./forgery.ts";
import { LineBook } from "./line-book.ts";
import { Once } from "./once.ts";
import { OneRoot } from "./one-root.ts";
import { Order } from "./order.ts";
import { OwnPart } from "./own-part.ts";
import { PlaceKept } from "./place-kept.ts";

const SESSION_MS = 10_000;

function ticketOf(id: string, sequence: number): Ticket {
  const times = { joinedAt: 0, issuedAt: 0, expiresAt: 1e9 };
  const shown = { aheadShown: AHEAD_UNKNOWN, aheadAtJoin: AHEAD_UNKNOWN, ...NONE_MISSED };
  return { id, room: "main", lane: 0, sequence, draw: 0, node: 0, ...times, ...shown };
}

function answered(
  id: string,
  at: number,
  answer: TicketAnswer,
  more: Partial<AnsweredNotice> = {},
): AnsweredNotice {
  const expiresAt = answer.kind === "entered" ? at + SESSION_MS : null;
  const who = { visitor: 1, id, station: 0, life: 1, aheadShown: null, missedTurns: 0 };
  return { kind: "answered", at, askedAt: at, request: "enter", answer, expiresAt, ...who, ...more };
}

function entered(
  id: string,
  at: number,
  more: Partial<AnsweredNotice> & { admittedAt?: number } = {},
): AnsweredNotice {
  const { admittedAt = 0, ...rest } = more;
  const times = { joinedAt: 0, admittedAt, createdAt: at, expiresAt: at };
  const pass = { id, room: "main", lane: 0, node: 0, ...times };
  return answered(id, at, { kind: "entered", pass }, rest);
}

function waiting(
  id: string,
  at: number,
  sequence = 1,
  more: Partial<AnsweredNotice> = {},
  ahead = 0,
): AnsweredNotice {
  const answer = {
    kind: "waiting",
    ticket: ticketOf(id, sequence),
    ahead,
    waitMs: null,
    nextCheckInMs: 2_000,
  } as const;
  return answered(id, at, answer, { request: "checkIn", ...more });
}

const leaving = (id: string, at: number): Notice => ({ kind: "leaving", at, id });
const left = (id: string, at: number): Notice => ({ kind: "left", at, id, station: 0, life: 1 });
const split = (at: number, isSplit: boolean): Notice => ({ kind: "split", at, isSplit });
const stopped = (at: number, isLast = false): Notice => ({
  kind: "stopped",
  at,
  station: 0,
  life: 1,
  isLast,
});

/** What a check says to the last of these; it must say nothing before. */
function lastWord(check: Check, notices: readonly Notice[]): string | null {
  for (const notice of notices.slice(0, -1)) assert.equal(check.see(notice), null);
  return check.see(notices.at(-1)!);
}

const capacity = (isOverlapStated = false) =>
  new Capacity({ totalActiveUsers: 2, sessionMs: SESSION_MS, isOverlapStated });

test("capacity: one more than may be on the site is too many", () => {
  assert.match(
    lastWord(capacity(), [entered("a", 0), entered("b", 1), entered("c", 2)])!,
    /3 visitors are on the site/,
  );
});

test("capacity: the same id counts once, visitors who left or whose pass expired not at all", () => {
  assert.equal(lastWord(capacity(), [entered("a", 0), entered("b", 1), entered("b", 2)]), null);
  assert.equal(
    lastWord(capacity(), [entered("a", 0), entered("b", 1), leaving("a", 5), entered("c", 6)]),
    null,
  );
  assert.equal(lastWord(capacity(), [entered("a", 0), entered("b", 1), entered("c", 10_000)]), null);
  assert.ok(lastWord(capacity(), [entered("a", 0), entered("b", 1), entered("c", 9_999)]));
});

test("capacity: a visitor who left is not counted again for the same visit, but for another one", () => {
  const full = [entered("a", 0), entered("b", 1), leaving("a", 5), entered("c", 6)];
  assert.equal(lastWord(capacity(), [...full, entered("a", 9)]), null);
  assert.ok(lastWord(capacity(), [...full, entered("a", 9, { admittedAt: 8 })]));
});

test("capacity: a renewed pass counts until it expires", () => {
  const renewed: Notice = { kind: "renewed", at: 9_000, id: "a", expiresAt: 19_000 };
  assert.ok(lastWord(capacity(), [entered("a", 0), renewed, entered("b", 9_500), entered("c", 15_000)]));
  assert.equal(
    lastWord(capacity(), [entered("a", 0), renewed, entered("b", 9_500), entered("c", 19_500)]),
    null,
  );
});

test("capacity: twice as many may be there for a session after all nodes died, or where that is stated", () => {
  const three = [entered("a", 0), entered("b", 1), stopped(2, true), entered("c", 3)];
  assert.equal(lastWord(capacity(), three), null);
  assert.ok(lastWord(capacity(), [...three, entered("d", 4), entered("e", 5)]));
  assert.equal(lastWord(capacity(true), [entered("a", 0), entered("b", 1), entered("c", 2)]), null);
  const late = [stopped(0, true), entered("a", 12_000), entered("b", 12_001), entered("c", 13_000)];
  assert.ok(lastWord(capacity(), late));
});

test("capacity: a visit of a part that died in a cut is unknown, but only if the part died in that cut", () => {
  const cut = [split(0, true), entered("a", 1), entered("b", 2), split(100, false)];
  assert.equal(lastWord(capacity(), [...cut, stopped(200), entered("c", 300)]), null);
  const long = new Capacity({ totalActiveUsers: 2, sessionMs: 60_000, isOverlapStated: false });
  const stay = { expiresAt: 60_000 };
  const before = [split(0, true), entered("a", 1, stay), entered("b", 2, stay), split(100, false)];
  assert.ok(lastWord(long, [...before, stopped(20_000), entered("c", 20_001)]));
  const again = new Capacity({ totalActiveUsers: 2, sessionMs: 60_000, isOverlapStated: false });
  const nextCut = [...before, split(20_000, true), stopped(20_001)];
  assert.ok(lastWord(again, [...nextCut, entered("c", 20_002)]));
});

test("once: a second visit is one too many, the same one told again is not", () => {
  assert.equal(lastWord(new Once(), [entered("a", 0), entered("a", 50)]), null);
  const second = entered("a", 50, { admittedAt: 40 });
  assert.match(lastWord(new Once(), [entered("a", 0), second])!, /second visit, 50 ms after/);
});

test("once: parts that cannot talk may both give a visit, and so may nodes that never heard of the first", () => {
  const second = entered("a", 9_000, { admittedAt: 40, station: 1 });
  assert.equal(lastWord(new Once(), [split(0, true), entered("a", 500), second]), null);
  assert.equal(lastWord(new Once(), [split(0, true), entered("a", 500), split(700, false), second]), null);
  assert.equal(lastWord(new Once(), [entered("a", 500), stopped(900), second]), null);
  assert.ok(lastWord(new Once(), [entered("a", 500), stopped(2_900), second]));
  assert.ok(lastWord(new Once(), [split(0, true), split(100, false), entered("a", 6_000), second]));
});

test("once: a visit that is over does not begin again", () => {
  const again = (at: number) => entered("a", at);
  assert.equal(lastWord(new Once(), [entered("a", 0), left("a", 100), again(2_000)]), null);
  assert.match(lastWord(new Once(), [entered("a", 0), left("a", 100), again(6_000)])!, /let in again/);
  assert.ok(lastWord(new Once(), [entered("a", 0), again(16_000)]));
  assert.equal(lastWord(new Once(), [entered("a", 0), left("a", 100), stopped(200), again(6_000)]), null);
});

test("once: the pass of a visitor who was told that they left is refused", () => {
  const renewed = (at: number): Notice => ({ kind: "renewed", at, id: "a", expiresAt: at + SESSION_MS });
  const gone = [entered("a", 0), leaving("a", 90), left("a", 100)];
  assert.equal(lastWord(new Once(), [entered("a", 0), leaving("a", 100), renewed(6_000)]), null);
  assert.equal(lastWord(new Once(), [...gone, renewed(4_000)]), null);
  assert.match(lastWord(new Once(), [...gone, renewed(6_000)])!, /taken 5900 ms after/);
  assert.equal(lastWord(new Once(), [...gone, stopped(200), renewed(6_000)]), null);
  assert.equal(lastWord(new Once(), [...gone, stopped(200, true), renewed(6_000)]), null);
});

test("once: what was said in a part that was cut off is known to all some time after they meet", () => {
  const gone = [split(0, true), entered("a", 10), left("a", 100)];
  assert.equal(lastWord(new Once(), [...gone, entered("a", 9_000)]), null);
  assert.equal(lastWord(new Once(), [...gone, split(9_000, false), entered("a", 18_000)]), null);
  assert.ok(lastWord(new Once(), [...gone, split(9_000, false), entered("a", 20_000)]));
});

test("place kept: a ticket that was never used is not refused", () => {
  const refused = answered("a", 9, { kind: "refused", reason: "ticketSpent" });
  assert.match(lastWord(new PlaceKept(), [waiting("a", 0), refused])!, /never used their ticket/);
  assert.equal(lastWord(new PlaceKept(), [entered("a", 0), refused]), null);
  assert.equal(lastWord(new PlaceKept(), [leaving("a", 0), refused]), null);
  const unknown = answered("a", 9, { kind: "refused", reason: "unknownRoom" });
  assert.equal(lastWord(new PlaceKept(), [waiting("a", 0), unknown]), null);
  assert.ok(lastWord(new PlaceKept(), [waiting("a", 0), answered("a", 9, { kind: "expired" })]));
});

test("place kept: the number shown ahead does not rise, and nobody gets another's place", () => {
  assert.equal(lastWord(new PlaceKept(), [waiting("a", 0, 1, { aheadShown: 5 }, 5)]), null);
  assert.match(lastWord(new PlaceKept(), [waiting("a", 0, 1, { aheadShown: 5 }, 6)])!, /5 ahead, and then 6/);
  assert.match(lastWord(new PlaceKept(), [{ ...entered("a", 0), id: "b" }])!, /another's/);
});

test("place kept: the number ahead rises only after a missed turn, of a visitor who had one", () => {
  const setBack = (at: number, sequence: number): AnsweredNotice => {
    const answer = waiting("a", at, sequence, { aheadShown: 0 }, 7);
    if (answer.answer.kind !== "waiting") throw new Error("they wait");
    const ticket = { ...answer.answer.ticket, missedTurns: 1, origin: 1 };
    return { ...answer, answer: { ...answer.answer, ticket } };
  };
  const turn: Notice = { kind: "turns", at: 5, station: 0, sequences: [1] };
  assert.equal(lastWord(new PlaceKept(), [waiting("a", 0), turn, setBack(9, 3)]), null);
  assert.match(lastWord(new PlaceKept(), [waiting("a", 0), setBack(9, 3)])!, /had none/);
});

test("place kept: a visitor who is there when told forfeits nothing, nor does one without a turn", () => {
  const refused = answered("a", 9, { kind: "refused", reason: "turnsMissed" });
  const turn: Notice = { kind: "turns", at: 5, station: 0, sequences: [1] };
  const told = (isSteady: boolean): Notice => ({ kind: "told", at: 1, id: "a", isSteady });
  assert.equal(lastWord(new PlaceKept(), [waiting("a", 0), told(false), turn, refused]), null);
  assert.match(lastWord(new PlaceKept(), [waiting("a", 0), told(false), refused])!, /had no turn/);
  assert.match(lastWord(new PlaceKept(), [waiting("a", 0), told(true), turn, refused])!, /never used/);
});

function rush(count: number, turnOrder: (sequences: number[]) => number[]): Notice[] {
  const sequences = Array.from({ length: count }, (_, i) => i + 1);
  return [
    ...sequences.flatMap((sequence): Notice[] => [
      waiting(`v${sequence}`, sequence, sequence, { request: "join" }),
      { kind: "told", at: sequence, id: `v${sequence}`, isSteady: true },
    ]),
    { kind: "turns", at: 5_000, station: 0, sequences: turnOrder(sequences) },
    { kind: "turns", at: 5_001, station: 1, sequences: sequences },
  ];
}
const ended: Notice = { kind: "ended", at: 9_000 };

/** Strict: everybody came further apart than counts for nothing. */
const STRICT = { disorderMs: 0.5, overtakingMaxMs: 5, isWhole: true };
const QUIET_ONLY = { ...STRICT, isWhole: false };

test("order: the first report of a turn counts, and the right order has distance zero", () => {
  const order = new Order(STRICT);
  assert.equal(lastWord(order, [...rush(300, (all) => all), ended]), null);
  assert.deepEqual(order.figures(), { counted: 300, tau: 0, displacement: 0 });
});

test("order: the last first is as far as can be, with few visitors as with many", () => {
  for (const count of [10, 50, 300]) {
    const order = new Order(STRICT);
    const reversed = rush(count, (all) => all.toReversed());
    assert.match(lastWord(order, [...reversed, ended])!, /1\.00000 from that of joining/);
    assert.equal(order.figures().displacement, count - 1);
  }
});

test("order: neighbours may change places, and visitors who came at about the same time may be in either order", () => {
  const swapped = rush(50, (all) => all.map((sequence) => ((sequence - 1) ^ 1) + 1));
  assert.equal(lastWord(new Order(STRICT), [...swapped, ended]), null);
  const halves = rush(50, (all) => [...all.slice(25), ...all.slice(0, 25)]);
  assert.ok(lastWord(new Order(STRICT), [...halves, ended]));
  const together = { disorderMs: 100, overtakingMaxMs: 100, isWhole: true };
  assert.equal(lastWord(new Order(together), [...halves, ended]), null);
});

test("order: nobody is further from their place than the number who came at about the same time", () => {
  const late = (by: number) => rush(300, ([first, ...rest]) => rest.toSpliced(by, 0, first!));
  assert.equal(lastWord(new Order(STRICT), [...late(5), ended]), null);
  assert.match(
    lastWord(new Order(STRICT), [...late(6), ended])!,
    /6 places from theirs, and no more than 5 others/,
  );
});

test("order: disturbed visitors are judged less strictly, or not at all", () => {
  const some = rush(300, (all) => [...all.slice(0, 250), ...all.slice(250).toReversed()]);
  const cutBetween = (notices: readonly Notice[]) => [
    split(200, true),
    ...notices,
    split(5_002, false),
    ended,
  ];
  assert.equal(lastWord(new Order(QUIET_ONLY), cutBetween(some)), null);
  assert.equal(lastWord(new Order(STRICT), cutBetween(some)), null);
  const all = rush(300, (sequences) => sequences.toReversed());
  assert.equal(lastWord(new Order(QUIET_ONLY), cutBetween(all)), null);
  assert.match(lastWord(new Order(STRICT), cutBetween(all))!, /of all \(300\) is 1\.00000/);
});

test("order: one who is overtaken by ten others is ten places from theirs", () => {
  const order = new Order(null);
  lastWord(order, [...rush(300, ([first, ...rest]) => rest.toSpliced(10, 0, first!)), ended]);
  assert.equal(order.figures().displacement, 10);
  assert.equal(order.figures().tau, 10 / ((300 * 299) / 2));
});

test("order: visitors who were away are not judged", () => {
  const away: Notice = { kind: "away", at: 400, id: "v1" };
  const order = new Order(STRICT);
  const late = rush(300, ([first, ...rest]) => [...rest, first!]);
  assert.equal(lastWord(order, [...late, away, ended]), null);
  assert.equal(order.figures().counted, 299);
});

test("order: a turn may be reported before the answer to the join, and straight through is a turn as well", () => {
  const order = new Order(null);
  const told = (id: string): Notice => ({ kind: "told", at: 9, id, isSteady: true });
  lastWord(order, [
    { kind: "turns", at: 1, station: 0, sequences: [7] },
    waiting("late", 2, 7, { request: "join", askedAt: 0 }),
    told("late"),
    entered("through", 3, { request: "join", askedAt: 3 }),
    told("through"),
  ]);
  assert.deepEqual(order.figures(), { counted: 2, tau: 0, displacement: 0 });
});

function nodeOf(name: string, version: number, more: Partial<SimNodeStatus> = {}): SimNodeStatus {
  const members = ["a", "b"].map((one, number) => ({ number, name: one, life: 1, address: one }));
  const view = { version, members, lost: [], isMajority: true };
  const status = { number: 0, isRoot: true, pointer: null, isSettled: true, rooms: {} };
  return { name, life: 1, view, ...status, ...more };
}
const look = (...nodes: SimNodeStatus[]): Notice => ({ kind: "look", at: 0, nodes });

test("one root: two in one view are one too many, in two views they are not", () => {
  assert.match(new OneRoot().see(look(nodeOf("a", 3), nodeOf("b", 3)))!, /a and b are both root of view 3/);
  assert.equal(new OneRoot().see(look(nodeOf("a", 3), nodeOf("b", 4))), null);
  assert.equal(new OneRoot().see(look(nodeOf("a", 3), nodeOf("b", 3, { isRoot: false }))), null);
  const other = { version: 3, members: [], lost: [], isMajority: false };
  assert.equal(new OneRoot().see(look(nodeOf("a", 3), nodeOf("b", 3, { view: other }))), null);
});

test("forgery: anything forged that is accepted is a complaint", () => {
  const taken: Notice = { kind: "taken", at: 0, visitor: 4, reply: "waiting" };
  assert.match(new Forgery().see(taken)!, /visitor 4 showed something made up/);
});

const turns = (at: number, ...sequences: number[]): Notice => ({ kind: "turns", at, station: 0, sequences });

/** After these, the least and the most who wait, and who are on the site. */
function bounds(at: number, ...notices: Notice[]): number[] {
  const book = new LineBook({ lapseAfterMs: 5_000 });
  for (const notice of notices) book.see(notice);
  const [line, site] = [book.waiting(at), book.onSite(at)];
  return [line.least, line.most, site.least, site.most];
}

test("line book: a visitor told to wait waits until they lapse, give up, or get their turn", () => {
  assert.deepEqual(bounds(100, waiting("a", 0)), [1, 1, 0, 0]);
  assert.deepEqual(bounds(7_000, waiting("a", 0)), [0, 1, 0, 0]);
  assert.deepEqual(bounds(9_600, waiting("a", 0)), [0, 0, 0, 0]);
  assert.deepEqual(bounds(3_000, waiting("a", 0), leaving("a", 100)), [0, 0, 0, 0]);
  assert.deepEqual(bounds(1_000, waiting("a", 0), leaving("a", 100)), [0, 1, 0, 0]);
  assert.deepEqual(bounds(3_000, waiting("a", 0), turns(100, 1)), [0, 0, 0, 0]);
  assert.deepEqual(bounds(3_000, waiting("a", 0), turns(100, 1), waiting("a", 200)), [0, 1, 0, 0]);
});

test("line book: a visitor who entered is on the site until they leave or their pass expires", () => {
  assert.deepEqual(bounds(3_000, waiting("a", 0), entered("a", 100)), [0, 0, 1, 1]);
  assert.deepEqual(bounds(3_000, entered("a", 100), leaving("a", 200)), [0, 0, 0, 0]);
  assert.deepEqual(bounds(11_000, entered("a", 100)), [0, 0, 0, 1]);
  assert.deepEqual(bounds(15_000, entered("a", 100)), [0, 0, 0, 0]);
});

test("line book: what a cut-off part or a dead node made of a visitor is uncertain", () => {
  assert.deepEqual(bounds(3_000, waiting("a", 0), split(50, true), leaving("a", 100)), [0, 1, 0, 0]);
  assert.deepEqual(bounds(3_000, waiting("a", 0), stopped(500)), [0, 1, 0, 0]);
  assert.deepEqual(bounds(3_000, entered("a", 0), stopped(500)), [0, 0, 0, 1]);
});

const joined = (sequence: number, station: number) =>
  waiting(`v${sequence}`, 0, sequence, { request: "join", station });
const parted = (parts: number[][] | null, at = 20_000): Notice => ({ kind: "parted", at, parts });
const told = (at: number, station: number, sequence: number): Notice => ({
  ...{ kind: "turns", at, station },
  sequences: [sequence],
});

test("own part: the smaller part gives no turns to places of the larger", () => {
  const cut = [joined(1, 0), joined(2, 3), parted([[0], [1, 2, 3]])];
  assert.match(
    lastWord(new OwnPart(), [...cut, told(21_000, 0, 2)])!,
    /node-0, .* gave a turn to place 2 of node-3/,
  );
  assert.equal(lastWord(new OwnPart(), [...cut, told(21_000, 0, 1)]), null);
  assert.equal(lastWord(new OwnPart(), [...cut, told(21_000, 3, 1)]), null);
  assert.equal(lastWord(new OwnPart(), [...cut, told(20_400, 0, 2)]), null);
});

test("own part: when it is not certain which part is which, nobody is judged", () => {
  const start = [joined(1, 0), joined(2, 3)];
  const turn = told(21_000, 0, 2);
  assert.equal(
    lastWord(new OwnPart(), [
      ...start,
      parted([
        [0, 1],
        [2, 3],
      ]),
      turn,
    ]),
    null,
  );
  assert.equal(lastWord(new OwnPart(), [...start, stopped(15_000), parted([[0], [1, 2, 3]]), turn]), null);
  assert.equal(
    lastWord(new OwnPart(), [...start, parted([[0], [1, 2, 3]]), parted(null, 20_500), turn]),
    null,
  );
  assert.equal(lastWord(new OwnPart(), [...start, parted([[0], [1, 2, 3]]), stopped(20_500), turn]), null);
});
