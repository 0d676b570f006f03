/**
 * One counting round as the root decides it: which pivots to ask about and, once everything is reported, how many of each lane
 * get a turn, up to which key, and what becomes of slots that nobody waits for.
 *
 * Slots: the capacity, less what all nodes use and keep, can be given. While members are lost that may still use theirs, only
 * what was offered can be given, so that no slot is created. Debts are paid first.
 */
import { freeInBudget } from "../../../core/budget.ts";
import type { Crowd } from "../../../core/doorkeeper.ts";
import type { DoorReason } from "../../../core/engine.ts";
import type { DoorRules } from "../../../core/rules.ts";
import type { RoomBooks } from "../visitors/room-books.ts";
import { waitingIn } from "./counter.ts";
import {
  ARRIVALS_UNIT,
  type Asks,
  type Cut,
  EVERYONE_UP_TO,
  type LanePivots,
  NOTHING,
  type RoomReport,
  type RoomReports,
  type RoomShare,
} from "./counting.ts";
import { leftByBudget } from "./room-budget.ts";

/** After this many passes those are admitted whose count is known. */
const PASSES_MAX = 4;
/** Distances of the pivots from the estimated key. */
const AROUND = [1, 2, 4, 8, 16, 64] as const;
const REFINED_PIVOTS = 15;
/** Rooms that share a capacity get this many times their recent arrivals. */
const ARRIVALS_AHEAD = 4;

interface Wanted {
  readonly lane: number;
  readonly count: number;
  below: { readonly cut: Cut | null; readonly key: number; readonly count: number };
  above: { readonly key: number; readonly count: number };
}

interface RoomRound {
  readonly books: RoomBooks;
  readonly report: RoomReport;
  readonly reason: DoorReason;
  readonly free: number;
  /** The same without the budget. */
  readonly ownFree: number;
  /** How many are to be admitted. */
  readonly opened: number;
  readonly byLot: readonly Cut[];
  readonly wanted: Wanted[];
  admitted: number;
}

export interface RoundSettings {
  readonly rooms: ReadonlyMap<string, RoomBooks>;
  /** Members are lost that may go on using their slots. */
  readonly isSomeoneLost: boolean;
  /** Up to this many are admitted one by one. */
  readonly oneByOneMax: number;
  readonly now: number;
}

/**
 * Admission by `deleteMin` of the cluster's queue: the root admits its first visitor, and then moves to where the next one waits.
 */
export interface OneByOne {
  readonly room: string;
  readonly left: number;
  readonly at: number;
}

/** What to ask next, or the decision. */
export type RoundStep =
  | { readonly asks: Asks }
  | { readonly shares: readonly (readonly [string, RoomShare])[] };

export class Round {
  readonly #rooms: ReadonlyMap<string, RoomBooks>;
  readonly #isSomeoneLost: boolean;
  readonly #now: number;
  #pass = 0;
  #asks: Asks;
  readonly #oneByOneMax: number;
  #open: RoomRound[] = [];
  #oneByOne: OneByOne | null = null;

  constructor({ rooms, isSomeoneLost, oneByOneMax, now }: RoundSettings) {
    this.#oneByOneMax = oneByOneMax;
    this.#rooms = rooms;
    this.#isSomeoneLost = isSomeoneLost;
    this.#now = now;
    this.#asks = this.#firstAsks();
  }

  get asks(): Asks {
    return this.#asks;
  }

  get pass(): number {
    return this.#pass;
  }

  /** By room: how many were admitted, and why not more. */
  reasons(): ReadonlyMap<string, { admitted: number; reason: DoorReason }> {
    return new Map(this.#open.map(({ books, admitted, reason }) => [books.name, { admitted, reason }]));
  }

  /** The one room in which few enough are admitted to do it one by one; null: by counting. */
  get oneByOne(): OneByOne | null {
    return this.#oneByOne;
  }

  /** Takes in the sum of a pass. */
  hear(rooms: RoomReports): RoundStep {
    if (this.#pass === 0) {
      this.#openDoors(rooms);
      this.#oneByOne = this.#takeOneByOne();
    }
    this.#narrow(rooms);
    const asks = this.#pass + 1 < PASSES_MAX ? this.#moreAsks() : [];
    if (asks.length === 0) return { shares: this.#shares() };
    this.#pass++;
    this.#asks = asks;
    return { asks };
  }

  /** Only where there is a single order, and no slot can be lost on the way. */
  #takeOneByOne(): OneByOne | null {
    const opened = this.#open.filter(({ opened: count }) => count > 0);
    const [room] = opened;
    if (opened.length !== 1 || !room || this.#isSomeoneLost || room.opened > this.#oneByOneMax) return null;
    // The root is where the first of all rooms waits, so nobody may wait in another room.
    const isOnlyLine = this.#open.every(({ report }) => report === room.report || waitingInAll(report) === 0);
    const isPlain =
      isOnlyLine && room.byLot.length === 0 && room.books.rulesAt(this.#now).lanes.named.length === 0;
    if (!isPlain) return null;
    room.wanted.length = 0;
    room.admitted = room.opened;
    return { room: room.books.name, left: room.opened, at: this.#now };
  }

  #firstAsks(): Asks {
    const asks: [string, LanePivots[]][] = [];
    for (const [room, books] of this.#rooms) {
      if (books.lines.size === 0) continue;
      const rules = books.rulesAt(this.#now);
      if (rules.queueingMethod === "random") continue;
      const guess = (rules.totalActiveUsers ?? Number.POSITIVE_INFINITY) - books.turns - books.onSite;
      const lanes = lanesOf(rules).filter((lane) => books.lines.waitingIn(lane) > 0);
      asks.push([room, lanes.map((lane) => [lane, ...pivotsAround(books, lane, guess)] as LanePivots)]);
    }
    return asks;
  }

  #openDoors(rooms: RoomReports): void {
    const reports = new Map(rooms);
    const free = new Map<string, number>();
    for (const [room, books] of this.#rooms) {
      const report = reports.get(room) ?? NOTHING;
      const { newUsersPerMinute } = books.rulesAt(this.#now);
      const { leaveBack: back, used: uncharged } = report;
      books.flow.settle(newUsersPerMinute, { back, uncharged }, this.#now);
      hearOfTurns(books, report, this.#now);
      free.set(room, this.#ownFree(books, report));
    }
    for (const [room, books] of this.#rooms) {
      const report = reports.get(room) ?? NOTHING;
      this.#open.push(this.#openDoor(books, report, free.get(room)!, this.#budgetFree(room, reports, free)));
    }
  }

  #openDoor(books: RoomBooks, report: RoomReport, ownFree: number, budgetFree: number): RoomRound {
    const { door } = books;
    const now = this.#now;
    const rules = books.rulesAt(now);
    const { turns, visits } = report;
    const waiting = report.lanes.reduce((sum, [, count]) => sum + count, 0);
    for (const remark of door.weigh({ waiting, admitted: turns, onSite: visits }, now))
      books.events.onRemark(remark);
    const free = Math.min(ownFree, budgetFree);
    const isDrawDue = books.isDrawDue(door.phase(now));
    const crowd = crowdOf(report, rules, { waiting, ownFree, budgetFree });
    const opening = isDrawDue ? { admit: 0, reason: "not started" as const } : door.open(crowd, now);
    const counts = this.#byLane(books, report, opening.admit);
    const isRandom = rules.queueingMethod === "random";
    const byLot = isRandom ? [...counts].map(([lane, count]): Cut => [lane, count]) : [];
    const wanted = isRandom ? [] : [...counts].map(([lane, count]) => wantedFrom(lane, count));
    const admitted = isRandom ? opening.admit : 0;
    return {
      books,
      report,
      reason: opening.reason,
      free,
      ownFree,
      opened: opening.admit,
      byLot,
      wanted,
      admitted,
    };
  }

  #byLane({ door }: RoomBooks, { lanes }: RoomReport, admit: number): Map<number, number> {
    const counts = new Map<number, number>();
    const left = (lane: number) => waitingIn(lanes, lane) - (counts.get(lane) ?? 0);
    for (let i = 0; i < admit; i++) {
      const lane = door.nextLane(left, this.#now);
      if (lane === null) break;
      counts.set(lane, (counts.get(lane) ?? 0) + 1);
    }
    return counts;
  }

  #ownFree(books: RoomBooks, report: RoomReport): number {
    const { totalActiveUsers } = books.rulesAt(this.#now);
    const isBudgeted = books.door.rules.budget !== null;
    if (totalActiveUsers === null && !isBudgeted) return Number.POSITIVE_INFINITY;
    const free = (totalActiveUsers ?? Number.POSITIVE_INFINITY) - heldBy(report);
    return this.#isSomeoneLost ? Math.min(free, report.offered - report.owed) : free;
  }

  #budgetFree(
    room: string,
    reports: ReadonlyMap<string, RoomReport>,
    free: ReadonlyMap<string, number>,
  ): number {
    const reportOf = (name: string) => reports.get(name) ?? NOTHING;
    return leftByBudget(room, this.#rooms, {
      usedBy: (name) => heldBy(reportOf(name)),
      wantedBy: (name) => Math.max(0, Math.min(waitingInAll(reportOf(name)), free.get(name)!)),
    });
  }

  #narrow(rooms: RoomReports): void {
    const reports = new Map(rooms);
    const asked = new Map(this.#asks);
    for (const { books, wanted } of this.#open) {
      for (const want of wanted) {
        const pivots = asked.get(books.name)?.find(([lane]) => lane === want.lane);
        const counts = reports.get(books.name)?.lanes.find(([lane]) => lane === want.lane);
        if (!pivots || !counts) continue;
        for (let i = 0; i + 1 < pivots.length; i++)
          narrow(want, { key: pivots[i + 1]!, count: counts[i + 2] ?? 0, cut: [want.lane, this.#pass, i] });
      }
    }
  }

  #moreAsks(): Asks {
    const asks: [string, LanePivots[]][] = [];
    for (const { books, wanted } of this.#open) {
      const lanes: LanePivots[] = [];
      for (const want of wanted) {
        if (want.below.count === want.count) continue;
        const pivots = pivotsBetween(books, want);
        if (pivots.length > 0) lanes.push([want.lane, ...pivots]);
      }
      if (lanes.length > 0) asks.push([books.name, lanes]);
    }
    return asks;
  }

  #shares(): [string, RoomShare][] {
    const cuts = this.#open.map((round) => {
      const found: Cut[] = [...round.byLot];
      for (const { below } of round.wanted) {
        if (!below.cut || below.count === 0) continue;
        found.push(below.cut);
        round.admitted += below.count;
      }
      round.books.door.admitted(round.admitted, this.#now);
      return found;
    });
    return this.#open.map((round, index) => [
      round.books.name,
      { cuts: cuts[index]!, ...this.#spares(round) },
    ]);
  }

  #spares(round: RoomRound): Omit<RoomShare, "cuts"> {
    const now = this.#now;
    const { books, free, admitted, ownFree } = round;
    const { newUsersPerMinute } = books.rulesAt(now);
    const isOpen = isLineEmpty(round);
    const isLimited = free !== Number.POSITIVE_INFINITY;
    const left = Math.max(0, Math.min(ownFree - admitted, this.#budgetLeft(round)));
    const slots = isLimited && (isOpen || this.#isSomeoneLost) ? left : 0;
    const out = { firm: round.report.turns + admitted, noShows: 0 };
    const allowed =
      isOpen && newUsersPerMinute !== null ? books.flow.allowance(newUsersPerMinute, now, out) : 0;
    const leave = Math.min(allowed, isLimited ? slots : allowed);
    // Less than the number of turns only if the rate was lowered since they were given.
    const { turns } = round.report;
    const entries =
      newUsersPerMinute === null ? null : Math.min(turns, books.flow.entriesLeft(newUsersPerMinute, now));
    if (newUsersPerMinute !== null) books.flow.grant(newUsersPerMinute, leave, now);
    return { slots, leave, entries, paid: this.#paid(round), isOver: free < 0 };
  }

  /** While someone is lost there are no slots but those that were offered. */
  #paid({ report: { owed, offered } }: RoomRound): number {
    return this.#isSomeoneLost ? Math.min(owed, offered) : owed;
  }

  /** What a budget leaves to a room for later newcomers, beside its other rooms without a line. */
  #budgetLeft({ books }: RoomRound): number {
    const budget = books.door.rules.budget;
    if (!budget) return Number.POSITIVE_INFINITY;
    const { totalActiveUsers } = budget;
    const all = this.#open.filter((round) => round.books.door.rules.budget?.name === budget.name);
    const rooms = all.map((round) => ({
      used: heldBy(round.report) + round.admitted,
      wanted: isLineEmpty(round)
        ? Math.max(0, Math.min(expectedIn(round), round.ownFree - round.admitted))
        : 0,
      guaranteed: round.books.door.rules.budget!.guaranteed,
      lastTurnAt: round.books.lastTurnAt,
    }));
    return freeInBudget(
      { totalActiveUsers, rooms },
      all.findIndex((round) => round.books === books),
    );
  }
}

/** Used firm turns count as entries of the last minute from now on. */
function hearOfTurns({ door }: RoomBooks, { news }: RoomReport, now: number): void {
  for (let i = 0; i < news.entered; i++) door.entered(0, now);
  for (let i = 0; i < news.loosened; i++) door.gaveBack("loose", now);
  for (let i = 0; i < news.left; i++) door.gaveBack("left", now);
  for (let i = 0; i < news.missed; i++) door.missed();
}

/** Newcomers to be expected before the next rounds; a room with few arrivals must not hoard slots. */
function expectedIn({ books, report }: RoomRound): number {
  const { guaranteed } = books.door.rules.budget!;
  return Math.max(
    1,
    guaranteed - heldBy(report),
    Math.ceil((ARRIVALS_AHEAD * report.arrivals) / ARRIVALS_UNIT),
  );
}

/** True when everyone who may be admitted has been. */
function isLineEmpty({ reason, admitted, opened }: RoomRound): boolean {
  return reason === "line empty" && admitted === opened;
}

function waitingInAll({ lanes }: RoomReport): number {
  return lanes.reduce((sum, [, count]) => sum + count, 0);
}

function heldBy({ turns, visits, kept }: RoomReport): number {
  return turns + visits + kept;
}

/** The room as the doorkeeper sees it, with only the slots that can be given. */
function crowdOf(
  { lanes, turns, visits, kept }: RoomReport,
  { totalActiveUsers }: DoorRules,
  { waiting, ownFree, budgetFree }: { waiting: number; ownFree: number; budgetFree: number },
): Crowd {
  return {
    waiting,
    admitted: turns,
    onSite: totalActiveUsers === null ? visits + kept : totalActiveUsers - turns - ownFree,
    budgetFree: totalActiveUsers === null ? Math.min(ownFree, budgetFree) : budgetFree,
    waitingIn: (lane) => waitingIn(lanes, lane),
    turnAges: () => [],
    isHeldBack: () => false,
  };
}

function wantedFrom(lane: number, count: number): Wanted {
  return {
    ...{ lane, count },
    below: { cut: null, key: 0, count: 0 },
    above: { key: EVERYONE_UP_TO, count: Number.POSITIVE_INFINITY },
  };
}

function narrow(want: Wanted, pivot: { key: number; count: number; cut: Cut }): void {
  if (pivot.count <= want.count && pivot.count >= want.below.count && pivot.count > 0) want.below = pivot;
  if (pivot.count > want.count && pivot.count < want.above.count) want.above = pivot;
}

function lanesOf({ lanes }: DoorRules): number[] {
  return [...lanes.named.map(({ number }) => number), 0];
}

/** Keys up to which about that many wait, some fewer and some more, and the end of the line. */
function pivotsAround({ lines }: RoomBooks, lane: number, guess: number): number[] {
  const waiting = lines.waitingIn(lane);
  const middle = Math.max(0, Math.min(guess, waiting));
  const counts = new Set<number>([middle, Math.ceil(middle / 2), Math.ceil(middle / 4)]);
  for (const offset of AROUND) counts.add(middle - offset).add(middle + offset);
  const inside = [...counts].filter((count) => count > 0 && count < waiting).sort((a, b) => a - b);
  return [...inside.map((count) => lines.at(lane, count - 1)), EVERYONE_UP_TO];
}

/** Keys between the nearest pivots, around the estimated one. */
function pivotsBetween({ lines }: RoomBooks, { lane, count, below, above }: Wanted): number[] {
  const from = lines.countUpTo(lane, below.key);
  const to = Math.min(lines.waitingIn(lane), lines.countUpTo(lane, above.key - 1));
  const target = from + (count - below.count);
  const first = Math.max(from + 1, Math.min(target - (REFINED_PIVOTS >> 1), to - REFINED_PIVOTS + 1));
  const keys: number[] = [];
  for (let rank = first; rank <= to && keys.length < REFINED_PIVOTS; rank++)
    keys.push(lines.at(lane, rank - 1));
  return keys.filter((key) => key > below.key && key < above.key);
}
