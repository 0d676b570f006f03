import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DEFAULT_RULES, type LanesRules, type RoomRules } from "../../../core/rules.ts";
import { type Entry, HOW, OP } from "../log/entries.ts";
import { keyAt } from "../log/order-clock.ts";
import { SELF } from "../visitors/place.ts";
import { RoomBooks } from "../visitors/room-books.ts";
import {
  ARRIVALS_UNIT,
  type Asks,
  type Cut,
  type LaneReport,
  NOTHING,
  type RoomReport,
  type RoomShare,
} from "./counting.ts";
import { Round, type RoundSettings } from "./round.ts";
import { NO_TURNS } from "./turn-news.ts";

const START = Date.UTC(2026, 0, 1);
const PASSES_MAX = 4;

/** The root's books of a room, with these waiting as far as it knows. */
function booksOf(rules: Partial<RoomRules>, known: readonly number[] = [], name = "r", lane = 0): RoomBooks {
  const nothing = () => {};
  const books = new RoomBooks({
    ...{ name, rules: { ...DEFAULT_RULES, ...rules }, self: { index: SELF, owner: "root#1" }, now: START },
    events: {
      ...{ onTurns: nothing, onRevoked: nothing, onDraw: nothing, onRemark: nothing },
      onWritten: (_entry: Entry) => 0,
    },
  });
  for (const n of known) books.apply([OP.wait, keyOf(n), lane, HOW.new, ""], { index: 1, owner: "x#1" }, 0);
  return books;
}

const keyOf = (n: number) => keyAt({ at: START + n, node: 0 });

function roundOf(books: readonly RoomBooks[], more: Partial<RoundSettings> = {}): Round {
  const rooms = new Map(books.map((one) => [one.name, one]));
  return new Round({ rooms, isSomeoneLost: false, oneByOneMax: 0, now: START, ...more });
}

interface Truth {
  /** By lane, who really waits. */
  readonly lanes: Readonly<Record<number, readonly number[]>>;
  readonly report?: Partial<RoomReport>;
}

/** What all nodes together answer when they are asked. */
function answer(asks: Asks, truths: Readonly<Record<string, Truth>>): [string, RoomReport][] {
  const asked = new Map(asks);
  return Object.entries(truths).map(([room, { lanes, report }]) => {
    const counts = Object.entries(lanes).map(([number, people]): LaneReport => {
      const lane = Number(number);
      const [, ...pivots] = asked.get(room)?.find(([of]) => of === lane) ?? [lane];
      return [lane, people.length, ...pivots.map((pivot) => people.filter((n) => keyOf(n) <= pivot).length)];
    });
    return [room, { ...NOTHING, arrivals: ARRIVALS_UNIT, ...report, lanes: counts }];
  });
}

/** Plays a round to its end; gives every room's share and the pivots that were asked for, by pass. */
function played(round: Round, truths: Readonly<Record<string, Truth>>) {
  const passes: Asks[] = [round.asks];
  for (;;) {
    const step = round.hear(answer(passes.at(-1)!, truths));
    if ("shares" in step) return { shares: new Map<string, RoomShare>(step.shares), passes };
    passes.push(step.asks);
    assert.ok(passes.length <= PASSES_MAX, "a round has an end");
  }
}

/** Who is let in by a cut: everyone up to its pivot. */
function letIn(cut: Cut, passes: readonly Asks[], people: readonly number[], room = "r"): number[] {
  if (cut.length !== 3) assert.fail("a cut by lot");
  const [lane, pass, pivot] = cut;
  const pivots = passes[pass]!.find(([of]) => of === room)![1].find(([of]) => of === lane)!;
  return people.filter((n) => keyOf(n) <= pivots[pivot + 1]!).sort((a, b) => a - b);
}

function admittedOf(capacity: number, truth: readonly number[], known: readonly number[]): number[] {
  const round = roundOf([booksOf({ totalActiveUsers: capacity }, known)]);
  const { shares, passes } = played(round, { r: { lanes: { 0: truth } } });
  const admitted = shares.get("r")!.cuts.flatMap((cut) => letIn(cut, passes, truth));
  assert.equal(round.reasons().get("r")!.admitted, admitted.length);
  return admitted;
}

const line = fc.uniqueArray(fc.nat({ max: 2_000 }), { maxLength: 150, size: "max" });
/** A line of a hundred takes long to make smaller; the seed is enough to see it again. */
const SOONEST = { endOnFailure: true };

/** Told in few words: a line of hundreds says nothing. */
function assertFirst(admitted: readonly number[], people: readonly number[], count: number): void {
  const expected = firstOf(people, count);
  assert.ok(`${admitted}` === `${expected}`, `${admitted.length} instead of the first ${expected.length}`);
}

const firstOf = (people: readonly number[], count: number) =>
  [...people].sort((a, b) => a - b).slice(0, count);

test("when the root knows who waits, exactly the first k are admitted", () => {
  fc.assert(
    fc.property(line, fc.nat({ max: 160 }), (people, capacity) => {
      assertFirst(admittedOf(capacity, people, people), people, capacity);
    }),
    SOONEST,
  );
});

test("whatever the root knows of the line, the first ones are admitted, and never too many", () => {
  fc.assert(
    fc.property(line, line, fc.nat({ max: 160 }), (people, known, capacity) => {
      const admitted = admittedOf(capacity, people, known);
      assert.ok(admitted.length <= capacity);
      assertFirst(admitted, people, admitted.length);
    }),
    SOONEST,
  );
});

test("visitors who left or joined without the root knowing do not keep it from finding the right key", () => {
  const news = fc.uniqueArray(fc.nat({ max: 2_000 }), { maxLength: 10 });
  fc.assert(
    fc.property(line, news, fc.nat({ max: 160 }), (people, gone, capacity) => {
      assertFirst(admittedOf(capacity, people, [...people, ...gone]), people, capacity);
    }),
    SOONEST,
  );
});

test("a round costs four passes at the most, and one where the guess was right", () => {
  const people = Array.from({ length: 5_000 }, (_, n) => n);
  const round = roundOf([booksOf({ totalActiveUsers: 1_000 }, people)]);
  const { passes } = played(round, { r: { lanes: { 0: people } } });
  assert.equal(passes.length, 1);
});

test("two visitors who left but are still in the root's books cost no extra pass", () => {
  const people = Array.from({ length: 5_000 }, (_, n) => n);
  const round = roundOf([booksOf({ totalActiveUsers: 1_000 }, people)]);
  const { shares, passes } = played(round, { r: { lanes: { 0: people.slice(2) } } });
  assert.equal(passes.length, 1);
  assert.equal(letIn(shares.get("r")!.cuts[0]!, passes, people.slice(2)).length, 1_000);
});

test("lanes are served as the doorkeeper says, each in its own order", () => {
  const lanes: LanesRules = {
    ...{ order: "strict", othersShare: 0 },
    named: [{ number: 7, name: "vip", share: 50, isPrivileged: true }],
  };
  const books = booksOf({ totalActiveUsers: 5, lanes }, [1, 2, 3, 4]);
  for (const n of [50, 51, 52])
    books.apply([OP.wait, keyOf(n), 7, HOW.new, ""], { index: 1, owner: "x#1" }, 0);
  const truth = { 0: [1, 2, 3, 4], 7: [50, 51, 52] };
  const { shares, passes } = played(roundOf([books]), { r: { lanes: truth } });
  const admitted = Object.fromEntries(
    shares.get("r")!.cuts.map((cut) => [cut[0], letIn(cut, passes, truth[cut[0] as 0 | 7])]),
  );
  assert.deepEqual(admitted, { 0: [1, 2], 7: [50, 51, 52] });
});

test("with random order, a cut only says how many", () => {
  const books = booksOf({ totalActiveUsers: 3, queueingMethod: "random" }, [1, 2, 3, 4, 5]);
  const { shares } = played(roundOf([books]), { r: { lanes: { 0: [1, 2, 3, 4, 5] } } });
  assert.deepEqual(shares.get("r")!.cuts, [[0, 3]]);
});

test("few enough to be admitted one by one need no pivots, unless someone is lost", () => {
  const books = () => booksOf({ totalActiveUsers: 2 }, [1, 2, 3]);
  const truths = { r: { lanes: { 0: [1, 2, 3] } } };
  const round = roundOf([books()], { oneByOneMax: 2 });
  assert.deepEqual(played(round, truths).shares.get("r")!.cuts, []);
  assert.deepEqual(round.oneByOne, { room: "r", left: 2, at: START });
  for (const more of [{ oneByOneMax: 1 }, { oneByOneMax: 2, isSomeoneLost: true }]) {
    const other = roundOf([books()], more);
    played(other, truths);
    assert.equal(other.oneByOne, null);
  }
});

test("unused slots go to those who wait, and the rest to newcomers", () => {
  const held = { turns: 2, visits: 3, kept: 1 };
  const round = roundOf([booksOf({ totalActiveUsers: 10 }, [1])]);
  const { shares } = played(round, { r: { lanes: { 0: [1] }, report: held } });
  assert.equal(shares.get("r")!.slots, 10 - 6 - 1);
  const full = roundOf([booksOf({ totalActiveUsers: 10 }, [1, 2, 3, 4, 5, 6])]);
  const after = played(full, { r: { lanes: { 0: [1, 2, 3, 4, 5, 6] }, report: held } });
  assert.equal(after.shares.get("r")!.slots, 0, "nothing to spare while people wait");
});

test("while someone is lost, slots are neither created nor forgotten", () => {
  const amount = fc.nat({ max: 12 });
  fc.assert(
    fc.property(line, amount, amount, amount, amount, (people, offered, visits, kept, owed) => {
      const round = roundOf([booksOf({ totalActiveUsers: 50 }, people)], { isSomeoneLost: true });
      const { shares, passes } = played(round, {
        r: { lanes: { 0: people }, report: { offered, visits, kept, owed } },
      });
      const { cuts, slots, paid } = shares.get("r")!;
      const admitted = cuts.flatMap((cut) => letIn(cut, passes, people)).length;
      assert.equal(paid, Math.min(owed, offered), "those who are in without a slot come first");
      assert.equal(admitted + slots + paid, offered);
    }),
  );
});

test("while someone is lost, what was offered goes back, also where nobody is admitted", () => {
  const round = roundOf([booksOf({ totalActiveUsers: 50, paused: true }, [1, 2])], { isSomeoneLost: true });
  const { shares } = played(round, { r: { lanes: { 0: [1, 2] }, report: { offered: 5, visits: 3 } } });
  assert.deepEqual([shares.get("r")!.cuts, shares.get("r")!.slots], [[], 5]);
});

test("when more slots are in use than there are, nobody gets one and every node is told", () => {
  const round = roundOf([booksOf({ totalActiveUsers: 5 }, [1])]);
  const { shares } = played(round, { r: { lanes: { 0: [1] }, report: { visits: 9 } } });
  assert.deepEqual(shares.get("r"), {
    ...{ cuts: [], slots: 0, leave: 0, entries: null, paid: 0, isOver: true },
  });
});

test("a room without a limit lets everyone in and hands out no slots", () => {
  const round = roundOf([booksOf({}, [1, 2])]);
  const { shares, passes } = played(round, { r: { lanes: { 0: [1, 2, 3] }, report: { visits: 9 } } });
  const { cuts, slots, isOver } = shares.get("r")!;
  assert.deepEqual(letIn(cuts[0]!, passes, [1, 2, 3]), [1, 2, 3]);
  assert.deepEqual([slots, isOver], [0, false]);
});

test("leave to go straight through is handed out within the rate, and comes off it", () => {
  const books = booksOf({ newUsersPerMinute: 600 });
  const first = played(roundOf([books]), { r: { lanes: { 0: [] } } }).shares.get("r")!;
  assert.equal(first.leave, 20, "two seconds' worth");
  const second = played(roundOf([books]), { r: { lanes: { 0: [] } } }).shares.get("r")!;
  assert.equal(second.leave, 0);
  const back = { r: { lanes: { 0: [] }, report: { leaveBack: 20 } } };
  assert.equal(played(roundOf([books]), back).shares.get("r")!.leave, 20, "what was not used is there again");
});

test("firm turns and leave count in the minute, and so do those who used a turn", () => {
  const minute = (report: Partial<RoomReport>) =>
    played(roundOf([booksOf({ newUsersPerMinute: 600 })]), { r: { lanes: { 0: [] }, report } }).shares.get(
      "r",
    )!;
  assert.deepEqual([minute({ turns: 590 }).leave, minute({ turns: 590 }).entries], [10, 590]);
  const news = { ...NO_TURNS, entered: 600 };
  assert.deepEqual([minute({ news }).leave, minute({ turns: 3, news }).entries], [0, 0]);
});

test("turns that became loose may be given again at once, beyond what is saved up", () => {
  const books = booksOf({ newUsersPerMinute: 60 }, [1, 2, 3, 4, 5, 6, 7, 8]);
  const lanes = { 0: [1, 2, 3, 4, 5, 6, 7, 8] };
  const round = (report: Partial<RoomReport>) => {
    const one = roundOf([books]);
    played(one, { r: { lanes, report } });
    return one.reasons().get("r")!.admitted;
  };
  assert.equal(round({}), 2);
  assert.equal(round({ turns: 2 }), 0);
  assert.equal(round({ news: { ...NO_TURNS, loosened: 2 } }), 2);
});

test("rooms that share a capacity never exceed it together, and each gets at least its guarantee", () => {
  const amount = fc.nat({ max: 8 });
  const held = fc.tuple(amount, amount);
  fc.assert(
    fc.property(held, held, line, line, (a, b, inA, inB) => {
      const total = 20;
      const room = (name: string, people: readonly number[]) =>
        booksOf({ budget: { name: "all", totalActiveUsers: total, guaranteed: 4 } }, people, name);
      const round = roundOf([room("a", inA), room("b", inB)]);
      const used = [a, b].map(([turns, visits]) => turns + visits);
      const { shares, passes } = played(round, {
        a: { lanes: { 0: inA }, report: { turns: a[0], visits: a[1] } },
        b: { lanes: { 0: inB }, report: { turns: b[0], visits: b[1] } },
      });
      const given = (["a", "b"] as const).map((name) => {
        const { cuts, slots } = shares.get(name)!;
        const people = name === "a" ? inA : inB;
        return slots + cuts.flatMap((cut) => letIn(cut, passes, people, name)).length;
      });
      const before = used[0]! + used[1]!;
      assert.ok(before + given[0]! + given[1]! <= Math.max(total, before), `${used} and ${given}`);
    }),
  );
});
