import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Budget, type BudgetRoom, freeInBudget } from "./budget.ts";

const ROOMS_MAX = 6;
const CROWD = 1_000_000;

const room = fc.record({
  used: fc.nat({ max: 30 }),
  wanted: fc.oneof(fc.nat({ max: 30 }), fc.constantFrom(0, CROWD)),
  guaranteed: fc.nat({ max: 20 }),
  lastTurnAt: fc.nat({ max: 3 }),
});
/** Any rooms at all: more may be guaranteed or used than there is. */
const anyBudget = fc.record({
  totalActiveUsers: fc.nat({ max: 120 }),
  rooms: fc.array(room, { minLength: 1, maxLength: ROOMS_MAX, size: "max" }),
});

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const answers = (budget: Budget) => budget.rooms.map((_, index) => freeInBudget(budget, index));
const ofShared = ({ used, guaranteed }: Pick<BudgetRoom, "used" | "guaranteed">) =>
  Math.max(0, used - guaranteed);

/** Rooms that admit what they may, one after the other, a step at a time. */
class Rooms {
  readonly totalActiveUsers: number;
  readonly rooms: { used: number; wanted: number; guaranteed: number; lastTurnAt: number }[];
  #steps = 0;

  constructor(totalActiveUsers: number, guaranteed: readonly number[]) {
    this.totalActiveUsers = totalActiveUsers;
    this.rooms = guaranteed.map((each) => ({ used: 0, wanted: 0, guaranteed: each, lastTurnAt: 0 }));
  }

  admit(index: number): number {
    const free = freeInBudget(this, index);
    const asking = this.rooms[index]!;
    asking.used += free;
    asking.wanted -= free;
    if (free > 0) asking.lastTurnAt = ++this.#steps;
    return free;
  }
}

/** Capacity and guarantees that it can keep. */
const promises = fc
  .tuple(
    fc.array(fc.nat({ max: 10 }), { minLength: 1, maxLength: ROOMS_MAX, size: "max" }),
    fc.nat({ max: 30 }),
  )
  .map(([guaranteed, shared]) => ({ guaranteed, total: sum(guaranteed) + shared }));

test("all rooms together never get more than is free, even when more was guaranteed than there is", () => {
  fc.assert(
    fc.property(anyBudget, (budget) => {
      const free = Math.max(0, budget.totalActiveUsers - sum(budget.rooms.map(({ used }) => used)));
      const given = answers(budget);
      assert.ok(given.every((n, i) => Number.isInteger(n) && n >= 0 && n <= budget.rooms[i]!.wanted));
      assert.ok(sum(given) <= free, `${given} of ${free}`);
    }),
    { numRuns: 1_000 },
  );
});

test("no wanted slot stays free, except those guaranteed to others", () => {
  fc.assert(
    fc.property(anyBudget, (budget) => {
      const free = budget.totalActiveUsers - sum(budget.rooms.map(({ used }) => used));
      const kept = sum(
        budget.rooms.map(({ used, wanted, guaranteed }) => Math.max(0, guaranteed - used - wanted)),
      );
      const wanted = sum(budget.rooms.map((each) => each.wanted));
      assert.ok(sum(answers(budget)) >= Math.min(wanted, free - kept));
    }),
    { numRuns: 1_000 },
  );
});

test("no room gets a shared slot while another that wants one holds two fewer", () => {
  fc.assert(
    fc.property(anyBudget, (budget) => {
      const after = budget.rooms.map((each, i) => {
        const given = freeInBudget(budget, i);
        return { ...each, used: each.used + given, unmet: each.wanted - given, before: ofShared(each) };
      });
      const lowest = Math.min(...after.filter(({ unmet }) => unmet > 0).map(ofShared));
      for (const each of after) if (ofShared(each) > each.before) assert.ok(ofShared(each) <= lowest + 1);
    }),
    { numRuns: 1_000 },
  );
});

test("through any joining and leaving the total holds and every room can reach its guaranteed number", () => {
  const step = fc.record({
    room: fc.nat({ max: ROOMS_MAX - 1 }),
    joining: fc.oneof(fc.nat({ max: 12 }), fc.constant(CROWD)),
    leaving: fc.nat({ max: 6 }),
  });
  fc.assert(
    fc.property(promises, fc.array(step, { maxLength: 80, size: "max" }), ({ total, guaranteed }, steps) => {
      const budget = new Rooms(total, guaranteed);
      for (const { room: index, joining, leaving } of steps) {
        const here = budget.rooms[index % guaranteed.length]!;
        here.used -= Math.min(here.used, leaving);
        here.wanted += joining;
        const due = Math.min(here.wanted, Math.max(0, here.guaranteed - here.used));
        assert.ok(budget.admit(index % guaranteed.length) >= due);
        assert.ok(sum(budget.rooms.map(({ used }) => used)) <= total);
      }
    }),
    { numRuns: 300 },
  );
});

test("two crowded rooms end up with equal parts of the shared slots, whichever was first", () => {
  fc.assert(
    fc.property(
      fc.tuple(fc.nat({ max: 10 }), fc.nat({ max: 10 })),
      fc.integer({ min: 2, max: 40 }),
      fc.infiniteStream(fc.nat()),
      (guaranteed, shared, dice) => {
        const budget = new Rooms(sum(guaranteed) + shared, guaranteed);
        const [early, late] = budget.rooms as [Rooms["rooms"][0], Rooms["rooms"][0]];
        early.wanted = CROWD;
        budget.admit(0);
        assert.equal(ofShared(early), shared);
        late.wanted = CROWD;
        budget.admit(1);
        for (let i = 0; Math.abs(ofShared(early) - ofShared(late)) > 1; i++) {
          assert.ok(i < 10_000, `${early.used} and ${late.used} and no nearer`);
          const everyone = early.used + late.used;
          budget.rooms[dice.next().value % everyone < early.used ? 0 : 1]!.used--;
          const first = dice.next().value % 2;
          budget.admit(first);
          budget.admit(1 - first);
        }
        assert.equal(early.used + late.used, budget.totalActiveUsers);
      },
    ),
  );
});

test("no crowded room starves, even with fewer slots than rooms", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: ROOMS_MAX }),
      fc.integer({ min: 1, max: 2 * ROOMS_MAX }),
      fc.infiniteStream(fc.nat()),
      (count, slots, dice) => {
        const budget = new Rooms(slots, Array(count).fill(0));
        for (const each of budget.rooms) each.wanted = CROWD;
        const admitted: number[] = [];
        for (let left = 0; left < 100; left++) {
          const start = dice.next().value;
          for (let i = 0; i < count; i++) {
            const index = (start + i) % count;
            for (let n = budget.admit(index); n > 0; n--) admitted.push(index);
          }
          // First in, first out.
          budget.rooms[admitted[left]!]!.used--;
        }
        const run = count + slots;
        for (let from = 0; from + run <= admitted.length; from++)
          assert.equal(new Set(admitted.slice(from, from + run)).size, count);
      },
    ),
  );
});

test("a flash crowd in one room leaves the guaranteed places of the others to them", () => {
  const budget = new Rooms(100, [10, 0, 5]);
  budget.rooms[1]!.wanted = CROWD;
  assert.equal(budget.admit(1), 85);
  budget.rooms[0]!.wanted = 4;
  assert.equal(budget.admit(0), 4);
  budget.rooms[0]!.wanted = 8;
  assert.equal(budget.admit(0), 6, "what is beyond the guarantee has to wait for a free slot");
  budget.rooms[1]!.used -= 2;
  assert.equal(budget.admit(1), 0, "and is before the crowd");
  assert.equal(budget.admit(0), 2);
});

test("a paused room wants nothing and blocks nothing for the others", () => {
  const held: BudgetRoom = { used: 0, wanted: 0, guaranteed: 0, lastTurnAt: 0 };
  const crowded: BudgetRoom = { used: 5, wanted: CROWD, guaranteed: 0, lastTurnAt: 9 };
  assert.deepEqual(answers({ totalActiveUsers: 20, rooms: [held, crowded] }), [0, 15]);
});

test("guarantees beyond the budget are shared out evenly", () => {
  const crowded: BudgetRoom = { used: 0, wanted: CROWD, guaranteed: 10, lastTurnAt: 0 };
  assert.deepEqual(answers({ totalActiveUsers: 11, rooms: [crowded, crowded, crowded] }), [4, 4, 3]);
  const fuller: BudgetRoom = { ...crowded, used: 6 };
  assert.deepEqual(answers({ totalActiveUsers: 12, rooms: [fuller, crowded] }), [0, 6]);
});

test("the last slot goes to the room that has been without a turn for longest", () => {
  const early: BudgetRoom = { used: 1, wanted: 5, guaranteed: 0, lastTurnAt: 100 };
  const late: BudgetRoom = { used: 1, wanted: 5, guaranteed: 0, lastTurnAt: 200 };
  assert.deepEqual(answers({ totalActiveUsers: 3, rooms: [late, early] }), [0, 1]);
  assert.deepEqual(answers({ totalActiveUsers: 3, rooms: [early, early] }), [1, 0]);
});
