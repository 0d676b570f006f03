/**
 * One room in memory: the line, the places, the visits and the door's memory, moved only together and only here.
 * Synchronous and told the time; the engine around it owns the clock and the timers.
 *
 * Invariants: a sequence is in the line exactly when its state is WAITING; `turns` counts the ADMITTED; visits from
 * this room's places are ON_SITE; and visits + turns never exceed `totalActiveUsers` by the door's doing.
 */
import { type Board, type Mark, markRanks } from "../../core/board.ts";
import { door, isDoorOpen } from "../../core/door.ts";
import type {
  Admission,
  Admitted,
  Counts,
  Entered,
  JoinAnswer,
  Presence,
  TicketAnswer,
  Totals,
  Waiting,
} from "../../core/engine.ts";
import { Pace } from "../../core/eta.ts";
import { type Turn, unfairness } from "../../core/fairness.ts";
import { Flow } from "../../core/flow.ts";
import { Line } from "../../core/line.ts";
import { lapseDeadline, longestCheckIn, nextCheckIn, wholeTenth } from "../../core/pacing.ts";
import type { Pass } from "../../core/pass.ts";
import type { RoomRules } from "../../core/rules.ts";
import { AHEAD_UNKNOWN, shownAhead, type Ticket } from "../../core/ticket.ts";
import type { KeptRoom, RoomChanges, RoomMemo } from "./kept-room.ts";
import { LastMoment } from "./last-moment.ts";
import {
  ADMITTED,
  BLOCK_SIZE,
  GONE,
  LAPSED,
  ON_SITE,
  Places,
  type State,
  UNKNOWN,
  WAITING,
} from "./places.ts";
import { Turns } from "./turns.ts";
import { type Visit, Visits } from "./visits.ts";

/** Sequences start from the clock, a thousand a millisecond, so a new process never gives out an old one again. */
const SEQUENCE_EPOCH = Date.UTC(2025, 0, 1);
const SEQUENCES_PER_MS = 1_000;
const SWEEP_PLACES_MAX = 500_000;
const FORGET_PERIOD_MS = 10_000;
const TURNS_REMEMBERED_MAX = 1_000;

/** After an unclean end, how long before it a pass may have been renewed without our knowing. */
const PRESENCE_UNSEEN_MS = 3_000;
/** More than can have joined between the last thing kept and an unclean end. */
const SEQUENCES_UNSEEN_MAX = 1_000_000;
/** While someone is on the site, the kept room is this fresh at least. */
const HEARTBEAT_MS = 1_000;

export interface RoomEvents {
  readonly onTurns: (sequences: readonly number[]) => void;
  readonly onRevoked: (id: string, until: number) => void;
}

export class MemoryRoom {
  rules: RoomRules;
  readonly #name: string;
  readonly #events: RoomEvents;
  readonly #places: Places;
  readonly #line = new Line();
  readonly #visits: Visits;
  readonly #turns: Turns;
  readonly #lastMoment: LastMoment;
  readonly #flow = new Flow();
  readonly #pace = new Pace();
  #nextSequence: number;
  #admittedSequence: number;
  #lapsed = 0;
  #recent: Turn[] = [];
  #recentNext = 0;
  #boardVersion = 0;
  #forgottenAt: number;
  #totals = emptyTotals();
  /** The latest answer whose ticket alone is not proof enough. */
  #unproven: Waiting | null = null;
  #memoAt = Number.NEGATIVE_INFINITY;

  /** `isKept`: someone takes the changes to keep them. */
  constructor(name: string, rules: RoomRules, events: RoomEvents, now: number, isKept = false) {
    this.#name = name;
    this.rules = rules;
    this.#events = events;
    this.#places = new Places(now, isKept);
    this.#visits = new Visits(isKept);
    this.#turns = new Turns(isKept);
    this.#lastMoment = new LastMoment(isKept);
    this.#nextSequence = Math.max(1, (Math.floor(now) - SEQUENCE_EPOCH) * SEQUENCES_PER_MS);
    this.#admittedSequence = this.#nextSequence - 1;
    this.#forgottenAt = now;
  }

  join(id: string, dice: number, now: number): JoinAnswer {
    const sequence = this.#nextSequence++;
    this.#totals.joined++;
    if (
      !this.#lastMoment.isHeld(sequence, now) &&
      isDoorOpen(this.rules, this.#doorCounts(), this.#flow, now)
    )
      return this.#goStraightThrough(sequence, id, now);
    const ticket: Ticket = {
      id,
      room: this.#name,
      lane: 0,
      joinedAt: now,
      sequence,
      issuedAt: now,
      expiresAt: now + this.rules.ticketTtlMs,
      node: 0,
      aheadShown: AHEAD_UNKNOWN,
      aheadAtJoin: AHEAD_UNKNOWN,
    };
    const answer = this.#wait(ticket, dice, now);
    if (this.#lastMoment.tell(answer.nextCheckInMs)) this.#unproven = answer;
    return answer;
  }

  checkIn(ticket: Ticket, dice: number, now: number): TicketAnswer {
    if (ticket.expiresAt <= now) return { kind: "expired" };
    switch (this.#places.state(ticket.sequence)) {
      case UNKNOWN:
        this.#takeBack(ticket);
        return this.#comeBack(ticket, dice, now);
      case LAPSED:
        this.#lapsed--;
        this.#totals.returned++;
        return this.#comeBack(ticket, dice, now);
      case WAITING:
        return this.#goOnWaiting(ticket, dice, now);
      case ADMITTED:
        return { kind: "admitted", ticket, claimBy: this.#places.deadline(ticket.sequence) };
      case ON_SITE:
        return this.#stillOnSite(ticket);
      case GONE:
        return { kind: "refused", reason: "ticketSpent" };
    }
  }

  enter(ticket: Ticket, dice: number, now: number): TicketAnswer {
    const answer = this.checkIn(ticket, dice, now);
    return answer.kind === "admitted" ? this.#useTurn(answer, now) : answer;
  }

  touch(presences: readonly Presence[], now: number): void {
    for (const presence of presences) this.#visits.touch(presence, now);
  }

  leavePlace(ticket: Ticket, now: number): void {
    const state = this.#places.state(ticket.sequence);
    if (state === GONE || ticket.expiresAt <= now) return;
    if (state === ON_SITE) return this.leaveVisit(ticket.id, now);
    if (state === WAITING) this.#line.remove(ticket.sequence);
    if (state === LAPSED) this.#lapsed--;
    if (state === ADMITTED) this.#turns.end(ticket.sequence);
    this.#totals.left++;
    this.#places.set(ticket.sequence, GONE, wholeTenth(now));
    this.#places.keepUntil(ticket.sequence, ticket.expiresAt);
  }

  leaveVisit(id: string, now: number): void {
    if (this.#endVisit(id, now)) this.#totals.left++;
  }

  revoke(id: string, now: number): boolean {
    if (!this.#endVisit(id, now)) return false;
    this.#totals.revoked++;
    return true;
  }

  /** One turn of the door. */
  admit(now: number): Admission {
    this.#visits.expire(now, (visit) => {
      this.#totals.expired++;
      this.#endPlace(visit, now);
    });
    this.#expireTurns(now);
    this.#places.sweep(now, SWEEP_PLACES_MAX, (sequence) => this.#lapse(sequence, now));
    const isLine = this.#line.size > 0 && !this.rules.paused;
    const opening = door(this.rules, this.#doorCounts(), this.#flow, now);
    const sequences = this.#admitFirst(opening.admit, now);
    this.#pace.observe({ admitted: sequences.length, isLine, now });
    if (sequences.length > 0) this.#events.onTurns(sequences);
    if (now - this.#forgottenAt >= FORGET_PERIOD_MS) {
      this.#forgottenAt = now;
      this.#places.forget(now);
    }
    return { admitted: sequences.length, reason: opening.reason };
  }

  counts(): Counts {
    return {
      ...this.#doorCounts(),
      lapsed: this.#lapsed,
      ratePerMinute: this.#pace.perMs(this.rules) * 60_000,
      unfairness: unfairness(this.#recent),
      totals: { ...this.#totals },
    };
  }

  board(now: number): Board {
    const perHundred = this.#pace.perHundred(this.rules);
    return {
      room: this.#name,
      version: ++this.#boardVersion,
      madeAt: now,
      state: this.rules.paused ? "paused" : this.#line.size > 0 ? "queueing" : "open",
      waiting: this.#line.size,
      admitted: [this.#admittedSequence],
      marks: this.#marks(),
      ratePerMinute: Math.round(this.#pace.perMs(this.rules) * 600_000) / 10,
      secondsPerHundred: perHundred && {
        low: seconds(perHundred.low),
        middle: seconds(perHundred.middle),
        high: seconds(perHundred.high),
      },
      message: this.rules.message,
      nextEventAt: null,
    };
  }

  /** True when there is something worth keeping that was not taken yet. */
  hasChanges(now: number): boolean {
    if (this.#places.hasChanges || this.#visits.hasChanges) return true;
    return this.#visits.size > 0 && now - this.#memoAt >= HEARTBEAT_MS;
  }

  /** Everything that changed since this was last asked. */
  takeChanges(now: number, isClosed = false): RoomChanges {
    this.#memoAt = now;
    const memo: RoomMemo = {
      nextSequence: this.#nextSequence,
      admittedSequence: this.#admittedSequence,
      waiting: this.#line.size,
      totals: { ...this.#totals },
      admissions: [...this.#flow.bySecond(now)],
      measured: this.#pace.measured(),
      lastMoment: this.#lastMoment.memo({ waiting: this.#line.size, now }),
      seenAt: now,
      isClosed,
    };
    return {
      memo,
      blocks: this.#places.takeChanges(),
      turns: this.#turns.takeChanges(),
      visits: this.#visits.takeChanges(),
    };
  }

  /** The changes last taken are on disk. */
  changesKept(memo: RoomMemo): void {
    this.#lastMoment.kept(memo.lastMoment);
  }

  /**
   * Whether the answer just made must be on disk before it is told. Those that give a slot must. A new place need not,
   * since its ticket is the proof; unless its holder is told to stay away for longer than a room restored from the disk
   * would hold back those behind them. A place taken back must: those behind it are on the disk already.
   */
  mustBeKept(answer: JoinAnswer | TicketAnswer): boolean {
    return answer === this.#unproven || answer.kind === "admitted" || answer.kind === "entered";
  }

  /**
   * Takes over a kept room; called once, before anything else. Whoever waited has as long as ever anyone may take to
   * check in, and a turn that was given starts anew. After an unclean end some may hold tickets that were never kept:
   * newcomers stay behind them for a while. And some may hold a pass that was renewed unseen: their slots stay taken.
   */
  restore({ memo, blocks, turns, visits }: KeptRoom, now: number): void {
    const unseen = memo.isClosed ? 0 : SEQUENCES_UNSEEN_MAX;
    this.#nextSequence = Math.max(this.#nextSequence, memo.nextSequence + unseen);
    this.#admittedSequence = memo.admittedSequence;
    this.#totals = { ...memo.totals };
    this.#flow.restore(memo.admissions, now);
    this.#pace.restore(memo.measured);
    this.#restorePlaces(blocks, turns, { waiting: memo.waiting, now });
    const { sessionDurationMs, disableSessionRenewal } = this.rules;
    const isRenewedUnseen = !memo.isClosed && !disableSessionRenewal;
    const renewedUntil = isRenewedUnseen ? memo.seenAt + PRESENCE_UNSEEN_MS + sessionDurationMs : 0;
    for (const [id, visit] of visits) {
      if (typeof visit === "number") this.#visits.restore(id, visit);
      else this.#visits.restore(id, { ...visit, expiresAt: Math.max(visit.expiresAt, renewedUntil) });
    }
    this.#lastMoment.restore(memo.lastMoment, memo.isClosed ? null : memo.nextSequence, now);
  }

  #restorePlaces(
    blocks: KeptRoom["blocks"],
    turns: KeptRoom["turns"],
    { waiting, now }: { waiting: number; now: number },
  ): void {
    const nextCheckInMs = longestCheckIn({ ...this.rules, waiting });
    const lapseAt = lapseDeadline({ now, nextCheckInMs, lapseAfterMs: this.rules.lapseAfterMs });
    const claimBy = wholeTenth(now + this.rules.claimWindowMs);
    const deadlineOf = (sequence: number, state: State): number => {
      if (state === WAITING) this.#line.add(sequence);
      else if (state === LAPSED) this.#lapsed++;
      if (state !== ADMITTED) return state === WAITING ? lapseAt : wholeTenth(now);
      this.#turns.give(sequence, turns.get(sequence) ?? now, claimBy);
      return claimBy;
    };
    for (const [block, bytes] of blocks) {
      this.#places.restore(block, bytes, deadlineOf);
      this.#places.keepUntil(block * BLOCK_SIZE, now + this.rules.ticketTtlMs);
    }
  }

  ended(): Iterable<[id: string, until: number]> {
    return this.#visits.ended();
  }

  #goStraightThrough(sequence: number, id: string, now: number): Entered {
    this.#flow.take(this.rules.newUsersPerMinute, 1, now);
    this.#totals.straightThrough++;
    this.#totals.admitted++;
    this.#admittedSequence = Math.max(this.#admittedSequence, sequence);
    this.#remember(sequence, now);
    return this.#startVisit({ id, sequence, lane: 0, joinedAt: now, admittedAt: now, expiresAt: 0 }, now);
  }

  /** The holder is here and waits: (back) into the line, with a new deadline. */
  #wait(ticket: Ticket, dice: number, now: number): Waiting {
    this.#line.add(ticket.sequence);
    return this.#goOnWaiting(ticket, dice, now);
  }

  #comeBack(ticket: Ticket, dice: number, now: number): Waiting {
    const answer = this.#wait(ticket, dice, now);
    this.#unproven = answer;
    return answer;
  }

  /** The same for someone who is in the line. */
  #goOnWaiting(ticket: Ticket, dice: number, now: number): Waiting {
    const { sequence } = ticket;
    const actual = this.#line.ahead(sequence);
    const waitMs = this.#pace.wait(this.rules, actual);
    const waiting = this.#line.size;
    const { pollBudgetPerSecond, ticketTtlMs } = this.rules;
    const nextCheckInMs = nextCheckIn({ waiting, waitMs, pollBudgetPerSecond, ticketTtlMs }, dice);
    const deadline = lapseDeadline({ now, nextCheckInMs, lapseAfterMs: this.rules.lapseAfterMs });
    this.#places.set(sequence, WAITING, deadline);
    this.#places.keepUntil(sequence, now + this.rules.ticketTtlMs);
    return { kind: "waiting", ticket, ahead: shownAhead(ticket, actual), waitMs, nextCheckInMs };
  }

  /** A good ticket this process never saw: an earlier life's. Its sequence must not be given out again. */
  #takeBack(ticket: Ticket): void {
    this.#nextSequence = Math.max(this.#nextSequence, ticket.sequence + 1);
    this.#totals.returned++;
  }

  #useTurn(turn: Admitted, now: number): Entered {
    const { id, sequence, lane, joinedAt } = turn.ticket;
    this.#totals.waitedMs += now - joinedAt;
    const admittedAt = this.#turns.end(sequence) ?? now;
    return this.#startVisit({ id, sequence, lane, joinedAt, admittedAt, expiresAt: 0 }, now);
  }

  #startVisit(visit: Visit, now: number): Entered {
    visit.expiresAt = now + this.rules.sessionDurationMs;
    this.#visits.add(visit);
    this.#totals.entered++;
    this.#places.set(visit.sequence, ON_SITE, wholeTenth(now));
    this.#places.keepUntil(visit.sequence, now + this.rules.ticketTtlMs);
    return { kind: "entered", pass: this.#passOf(visit, now) };
  }

  /** The ticket was used already: its holder missed the answer, or shows it twice. One visit either way. */
  #stillOnSite(ticket: Ticket): TicketAnswer {
    const visit = this.#visits.get(ticket.id);
    if (!visit) return { kind: "refused", reason: "ticketSpent" };
    return { kind: "entered", pass: this.#passOf(visit, visit.expiresAt - this.rules.sessionDurationMs) };
  }

  #passOf(visit: Visit, createdAt: number): Pass {
    const { id, lane, joinedAt, admittedAt, expiresAt } = visit;
    return { id, room: this.#name, lane, joinedAt, admittedAt, createdAt, expiresAt, node: 0 };
  }

  #endVisit(id: string, now: number): boolean {
    const visit = this.#visits.get(id);
    if (!visit) return false;
    const until = this.#visits.end(visit);
    this.#endPlace(visit, now);
    this.#events.onRevoked(id, until);
    return true;
  }

  #endPlace(visit: Visit, now: number): void {
    if (visit.sequence >= 0) this.#places.set(visit.sequence, GONE, wholeTenth(now));
  }

  #lapse(sequence: number, now: number): void {
    this.#line.remove(sequence);
    this.#places.set(sequence, LAPSED, wholeTenth(now));
    this.#lapsed++;
    this.#totals.lapsed++;
  }

  /** Turns nobody used go back to the door; their holders keep their place for when they return. */
  #expireTurns(now: number): void {
    for (let sequence = this.#turns.takeDue(now); sequence; sequence = this.#turns.takeDue(now)) {
      const isOver = this.#places.state(sequence) === ADMITTED && this.#places.deadline(sequence) <= now;
      if (!isOver) continue;
      this.#turns.end(sequence);
      this.#places.set(sequence, LAPSED, wholeTenth(now));
      this.#lapsed++;
      this.#totals.missedTurns++;
    }
  }

  #admitFirst(count: number, now: number): number[] {
    const sequences: number[] = [];
    const claimBy = wholeTenth(now + this.rules.claimWindowMs);
    while (sequences.length < count) {
      const sequence = this.#line.first();
      if (this.#lastMoment.isHeld(sequence, now)) break;
      if (!this.#places.wasLate(sequence)) this.#remember(sequence, now);
      this.#line.remove(sequence);
      this.#places.set(sequence, ADMITTED, claimBy);
      this.#turns.give(sequence, now, claimBy);
      this.#admittedSequence = Math.max(this.#admittedSequence, sequence);
      sequences.push(sequence);
    }
    this.#totals.admitted += sequences.length;
    this.#flow.take(this.rules.newUsersPerMinute, sequences.length, now);
    return sequences;
  }

  #remember(sequence: number, now: number): void {
    this.#recent[this.#recentNext++ % TURNS_REMEMBERED_MAX] = { joined: sequence, admitted: now };
  }

  #marks(): Mark[] {
    return markRanks(this.#line.size).map((rank): Mark => [this.#line.at(rank), rank]);
  }

  #doorCounts(): { waiting: number; admitted: number; onSite: number } {
    return { waiting: this.#line.size, admitted: this.#turns.size, onSite: this.#visits.size };
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function emptyTotals(): { -readonly [Key in keyof Totals]: number } {
  return {
    joined: 0,
    straightThrough: 0,
    admitted: 0,
    entered: 0,
    lapsed: 0,
    returned: 0,
    missedTurns: 0,
    left: 0,
    expired: 0,
    revoked: 0,
    waitedMs: 0,
  };
}
