/**
 * The door of a cluster: the root runs a counting round at each interval, decides for all rooms, and announces it; every node
 * carries out its part. A node that is alone has the whole door (hand.ts) and runs it as the embedded engine does.
 */
import type { DoorkeeperMemo } from "../../../core/doorkeeper.ts";
import type { Admission } from "../../../core/engine.ts";
import type { HandedFlow } from "../../../core/flow.ts";
import { EVERYBODY } from "../../../core/rules.ts";
import type { Replication } from "../log/replication.ts";
import { isWhole, type View, viewNumber } from "../membership/view.ts";
import type { RoomBooks } from "../visitors/room-books.ts";
import { giveTurns, turnWhole } from "../visitors/room-duty.ts";
import { Counter, isLater, type OwnCounts } from "./counter.ts";
import {
  type AnnounceBody,
  ARRIVALS_UNIT,
  type CountBody,
  type Cut,
  type LaneReport,
  type Memo,
  NOTHING,
  type ReportBody,
  type RoomReport,
  type RoomShare,
  type RoundId,
} from "./counting.ts";
import type { Qpid } from "./qpid.ts";
import { type OneByOne, Round } from "./round.ts";

/** While nothing happens, rounds are this many intervals apart. */
const IDLE_INTERVALS = 5;
/** The share of the recent arrivals that still counts after a round. */
const ARRIVALS_KEPT = 0.7;
/** After this many views without a finished round between them, offered slots are given up. */
const OFFERS_MAX = 8;

interface RoomMemo {
  readonly door: DoorkeeperMemo;
  readonly flow: HandedFlow;
  readonly lastTurnAt: number;
}

/** What is passed on with the root. */
interface Carried {
  readonly memo: Memo | null;
  readonly oneByOne: OneByOne | null;
}

export interface DoorDutyParts {
  readonly rooms: ReadonlyMap<string, RoomBooks>;
  readonly replication: Replication;
  readonly qpid: Qpid;
  readonly intervalMs: number;
  readonly oneByOneMax: number;
  readonly weigh: () => void;
  readonly dice: () => number;
  readonly onComplete: () => void;
}

export interface TreePlace {
  readonly number: number;
  readonly neighbours: readonly number[];
}

export class DoorDuty {
  readonly #parts: DoorDutyParts;
  readonly counter: Counter;
  #view: View | null = null;
  #number = 0;
  #round: Round | null = null;
  #seq = 0;
  #turn: (now: number) => void = () => {};
  #memo: Memo | null = null;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** When the round under way began: long rounds still begin one interval apart. */
  #beganAt = Number.NEGATIVE_INFINITY;
  #now = 0;
  /** Rooms whose draw waits until these logs have been read this far. */
  #drawWhen: { room: string; heads: ReportBody["heads"] }[] = [];
  /** What was offered to rounds whose outcome is unknown. */
  #offers: { readonly to: RoundId; readonly slots: readonly (readonly [string, number])[] }[] = [];
  /** This node's rounds that a new view ended before they were announced. */
  #dropped: RoundId[] = [];
  readonly #last = new Map<string, Admission>();
  /** Rounds that this node has announced. */
  rounds = 0;

  constructor(parts: DoorDutyParts) {
    this.#parts = parts;
    this.counter = new Counter({
      report: (body) => this.#report(body),
      apply: (body, counts) => this.#apply(body, counts),
      dice: parts.dice,
    });
  }

  /** Another view: the round under way is void. */
  start(view: View, { number, neighbours }: TreePlace, now: number): void {
    if (this.#round) this.#dropped = [...this.#dropped, this.#roundId(this.#seq)].slice(-OFFERS_MAX);
    // A lone node runs no rounds, so its memo dates from before it was alone. The next root needs what happened since.
    if (this.#view && isWhole(this.#view)) this.#memo = this.#makeMemo(now);
    this.#view = view;
    this.#turn = isWhole(view) ? (at) => this.#turnWhole(at) : (at) => this.#begin(at);
    this.#number = number;
    this.#round = null;
    this.#seq = 0;
    this.#drawWhen = [];
    this.#nextAt = now;
    this.counter.start(neighbours);
    if (this.#parts.qpid.isRoot)
      this.#parts.qpid.memo = { memo: this.#memo, oneByOne: null } satisfies Carried;
  }

  /** Runs the doors now, if this node is responsible for them. */
  turnNow(now: number): void {
    this.#nextAt = now;
    this.tick(now);
  }

  lastAdmission(room: string): Admission | null {
    return this.#last.get(room) ?? null;
  }

  receive(from: number, body: Parameters<Counter["receive"]>[1], now: number): void {
    this.#now = now;
    if (body.kind === "count" && !this.#canCount(body)) return;
    this.counter.receive(from, body, now);
    this.#hearSum(now);
  }

  tick(now: number): void {
    this.#now = now;
    if (!this.#view) return;
    this.counter.tick(now);
    this.#drawWhenRead(now);
    this.#deleteMins(now);
    if (now < this.#nextAt) return;
    if (this.#isMyDuty()) this.#turn(now);
  }

  nextAt(): number {
    return Math.min(this.#isMyDuty() ? this.#nextAt : Number.POSITIVE_INFINITY, this.counter.nextAt());
  }

  #isMyDuty(): boolean {
    const { qpid, replication } = this.#parts;
    return this.#view !== null && qpid.isRoot && replication.isSettled && !this.#round;
  }

  #turnWhole(now: number): void {
    this.#nextAt = now + this.#parts.intervalMs;
    for (const [room, books] of this.#parts.rooms)
      this.#last.set(room, turnWhole(books, this.#parts.dice, now));
  }

  #begin(now: number): void {
    const { rooms, qpid } = this.#parts;
    const carried = (qpid.memo as Carried | null)?.memo;
    if (carried && (!this.#memo || isLater(carried, this.#memo))) this.#takeMemo(carried, now);
    qpid.hold();
    this.#beganAt = now;
    const view = viewNumber(this.#view!);
    if (this.#memo?.view === view) this.#seq = Math.max(this.#seq, this.#memo.seq);
    this.#seq++;
    this.#round = new Round({
      rooms,
      isSomeoneLost: this.#view!.lost.length > 0,
      oneByOneMax: this.#parts.oneByOneMax,
      now,
    });
    const draws = this.#view!.isMajority ? this.#dueDraws(now) : [];
    this.counter.ask({ ...this.#countHead(draws), pass: 0, asks: this.#round.asks }, now);
    this.#hearSum(now);
  }

  #countHead(draws: readonly string[]): Omit<CountBody, "kind" | "pass" | "asks" | "last"> {
    const { rooms } = this.#parts;
    const drawn = [...rooms].flatMap(([room, books]) => books.draws.numbers().map((n) => [room, n] as const));
    const memoAt: CountBody["memoAt"] = [this.#memo?.view ?? -1, this.#memo?.seq ?? -1];
    return { seq: this.#seq, root: this.#number, draws, drawn, memoAt };
  }

  #dueDraws(now: number): string[] {
    const due: string[] = [];
    for (const [room, books] of this.#parts.rooms) if (books.isDrawDue(books.door.phase(now))) due.push(room);
    return due;
  }

  #hearSum(now: number): void {
    const sum = this.counter.takeSum();
    const round = this.#round;
    if (!sum || !round) return;
    if (sum.memo && (!this.#memo || isLater(sum.memo, this.#memo))) this.#takeMemo(sum.memo, now);
    const { rooms } = this.#parts;
    for (const books of rooms.values()) books.flow.isRoot = true;
    const step = round.hear(sum.rooms);
    for (const books of rooms.values()) books.flow.isRoot = false;
    if ("asks" in step) {
      this.counter.ask({ ...this.#countHead([]), pass: round.pass, asks: step.asks }, now);
      return this.#hearSum(now);
    }
    if (sum.heads.length > 0)
      this.#drawWhen = this.#dueDraws(now).map((room) => ({ room, heads: sum.heads }));
    this.#finish(
      round,
      { shares: step.shares, dropped: this.#view!.lost.length > 0 ? sum.dropped : [] },
      now,
    );
  }

  #finish(round: Round, decided: Pick<AnnounceBody, "shares" | "dropped">, now: number): void {
    const { qpid, intervalMs, rooms } = this.#parts;
    this.#round = null;
    this.rounds++;
    this.#memo = this.#makeMemo(now);
    for (const [room, { admitted, reason }] of round.reasons()) this.#last.set(room, { admitted, reason });
    this.counter.announce({ seq: this.#seq, at: now, memo: this.#memo, ...decided });
    const isBusy = [...rooms.values()].some(
      (books) => books.lines.size > 0 || books.turns > 0 || books.arrivals >= 1,
    );
    this.#nextAt = this.#beganAt + intervalMs * (isBusy ? 1 : IDLE_INTERVALS);
    qpid.memo = { memo: this.#memo, oneByOne: round.oneByOne } satisfies Carried;
    qpid.release();
    this.#drawWhenRead(now);
    this.#deleteMins(now);
  }

  /** Admits this node's first visitor while it is the first of all and the round allows one more; then the root moves on. */
  #deleteMins(now: number): void {
    const { qpid, rooms, weigh } = this.#parts;
    for (;;) {
      const carried = qpid.memo as Carried | null;
      const due = qpid.isRoot && !this.#round ? carried?.oneByOne : null;
      const books = due && rooms.get(due.room);
      if (!books) return;
      const first = books.own.at(EVERYBODY, 0);
      const left = first < 0 ? 0 : due.left - 1;
      qpid.hold();
      qpid.memo = { ...carried!, oneByOne: left > 0 ? { ...due, left } : null } satisfies Carried;
      if (first >= 0) {
        books.held++;
        books.flow.entries++;
        giveTurns(books, [first], { at: due.at, now });
      }
      weigh();
      qpid.release();
    }
  }

  /** Draws once all logs have been read up to where their owners closed the pool. */
  #drawWhenRead(now: number): void {
    if (this.#drawWhen.length === 0) return;
    const { replication, rooms } = this.#parts;
    this.#drawWhen = this.#drawWhen.filter(({ room, heads }) => {
      const books = rooms.get(room);
      if (!books?.isDrawDue(books.door.phase(now))) return false;
      if (heads.some(([log, head]) => replication.headOf(log) < head)) return true;
      books.draw(books.door.phase(now).event!, now);
      return false;
    });
  }

  /** A node can count only when it is settled in this view and has made every draw that the root has made. */
  #canCount({ drawn }: CountBody): boolean {
    const { replication, rooms } = this.#parts;
    if (!replication.isSettled || !Array.isArray(drawn)) return false;
    return drawn.every(([room, number]) => rooms.get(room)?.draws.numbers().includes(number) ?? true);
  }

  #report({ seq, pass, asks, draws, memoAt }: CountBody): Omit<ReportBody, "kind" | "seq" | "pass"> {
    const { rooms, replication } = this.#parts;
    const asked = new Map(asks);
    const reports: [string, RoomReport][] = [];
    for (const [room, books] of rooms) {
      const lanes = lanesAsked(books, asked.get(room) ?? [], this.#now);
      if (pass === 0) reports.push([room, { lanes, ...this.settleUp(books, this.#now) }]);
      else if (asked.has(room)) reports.push([room, { ...NOTHING, lanes }]);
    }
    if (pass === 0) this.#noteOffers(seq, reports);
    for (const room of draws) rooms.get(room)?.closePool(this.#now);
    const isMemoLater = this.#memo !== null && isLater(this.#memo, { view: memoAt[0], seq: memoAt[1] });
    return {
      rooms: reports,
      heads: draws.length > 0 ? replication.heads() : [],
      memo: pass === 0 && isMemoLater ? this.#memo : null,
      dropped: pass === 0 ? this.#dropped : [],
    };
  }

  /** What this node uses, keeps and gives back. From here on it has only what it keeps. */
  protected settleUp(books: RoomBooks, now: number): Omit<RoomReport, "lanes"> {
    const { flow, ownTurns: turns, ownVisits: visits } = books;
    books.rulesAt(now);
    const { isLimited } = books;
    const spare = isLimited ? Math.max(0, books.spare) : 0;
    const owed = isLimited ? Math.max(0, -books.spare) : 0;
    // About as many as come in one round; anyone beyond that waits for the next announcement.
    const expected = books.lines.size > 0 ? 0 : Math.floor(books.arrivals * (1 - ARRIVALS_KEPT));
    const kept = Math.min(spare, expected);
    // Leave expires so soon that none is kept.
    const leaveKept = 0;
    const leaveBack = flow.leave - leaveKept;
    books.held = books.used + kept - owed;
    flow.leave = leaveKept;
    const arrivals = Math.round(books.arrivals * ARRIVALS_UNIT) + 1;
    books.arrivals *= ARRIVALS_KEPT;
    const news = books.turnNews.report();
    const used = flow.uncharged;
    flow.uncharged = 0;
    return { turns, visits, kept, offered: spare - kept, owed, leaveBack, arrivals, used, news };
  }

  #roundId(seq: number): RoundId {
    return [viewNumber(this.#view!), seq];
  }

  #noteOffers(seq: number, reports: readonly (readonly [string, RoomReport])[]): void {
    const to = this.#roundId(seq);
    // A later round of the same view means that the one before was announced.
    const before = this.#offers.filter((offer) => offer.to[0] !== to[0]);
    const slots = reports.map(([room, { offered }]) => [room, offered] as const);
    this.#offers = [...before, { to, slots }].slice(-OFFERS_MAX);
  }

  /** Takes back what was offered to rounds that were never announced. */
  #takeBack(dropped: readonly RoundId[]): void {
    for (const { to, slots } of this.#offers)
      if (dropped.some(([view, seq]) => view === to[0] && seq === to[1]))
        for (const [room, count] of slots) {
          const books = this.#parts.rooms.get(room);
          if (books && count > 0) books.held += count;
        }
    this.#offers = [];
    this.#dropped = [];
  }

  #apply({ at, shares, memo, dropped }: AnnounceBody, counts: OwnCounts): void {
    const now = this.#now;
    const { rooms, onComplete, dice } = this.#parts;
    // These slots were handed out under the door's present state.
    if (!this.#memo || isLater(memo, this.#memo)) this.#takeMemo(memo, now);
    this.#takeBack(dropped);
    for (const [room, share] of shares) {
      const books = rooms.get(room);
      if (!books) continue;
      books.rulesAt(now);
      books.turnNews.announced();
      const sequences = share.cuts.flatMap((cut) => sequencesOf(books, cut, counts, dice));
      books.held += promised(room, share, counts) + share.paid;
      books.flow.receive(share.leave, now);
      books.flow.entries = (share.entries ?? Number.POSITIVE_INFINITY) + sequences.length;
      giveTurns(books, sequences, { at, now });
      if (share.isOver) books.held = Math.min(books.held, books.used);
    }
    onComplete();
  }

  #makeMemo(now: number): Memo {
    const rooms = [...this.#parts.rooms].map(([room, { door, flow, lastTurnAt }]): [string, RoomMemo] => [
      room,
      // The flow already contains the admissions.
      { door: { ...door.memo(now), admissions: [] }, flow: flow.handOver(now), lastTurnAt },
    ]);
    return { view: viewNumber(this.#view!), seq: this.#seq, rooms };
  }

  #takeMemo(memo: Memo, now: number): void {
    this.#memo = memo;
    for (const [room, kept] of memo.rooms) {
      const books = this.#parts.rooms.get(room);
      if (!books) continue;
      const { door, flow, lastTurnAt } = kept as RoomMemo;
      const before = books.door.remarks.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
      books.door.restore(door, now);
      books.flow.takeOver(flow, now);
      books.lastTurnAt = Math.max(books.lastTurnAt, lastTurnAt);
      for (const remark of books.door.remarks) if (remark.at > before) books.events.onRemark(remark);
    }
  }
}

/** How many wait at this node, in all and up to each pivot. */
function lanesAsked(books: RoomBooks, pivots: readonly (readonly number[])[], now: number): LaneReport[] {
  const { own } = books;
  const { lanes } = books.rulesAt(now);
  return [...lanes.named.map(({ number }) => number), 0].map((lane): LaneReport => {
    const [, ...keys] = pivots.find(([of]) => of === lane) ?? [lane];
    return [lane, own.waitingIn(lane), ...keys.map((key) => own.countUpTo(lane, key))];
  });
}

function promised(room: string, { cuts, slots }: RoomShare, counts: OwnCounts): number {
  let sum = slots;
  for (const cut of cuts) sum += cut.length === 3 ? counts.upTo(room, cut).count : cut[1];
  return sum;
}

/** This node's visitors who get a turn: those who were counted and still wait. */
function sequencesOf(books: RoomBooks, cut: Cut, counts: OwnCounts, dice: () => number): number[] {
  const [lane] = cut;
  const { own } = books;
  if (cut.length === 3) {
    const { key, count } = counts.upTo(books.name, cut);
    const there = Math.min(count, own.countUpTo(lane, key));
    return Array.from({ length: there }, (_, rank) => own.at(lane, rank));
  }
  const ranks = new Set<number>();
  const waiting = own.waitingIn(lane);
  while (ranks.size < Math.min(cut[1], waiting)) ranks.add(Math.floor(dice() * waiting));
  return [...ranks].map((rank) => own.at(lane, rank));
}
