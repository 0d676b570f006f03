/**
 * The state of one room in memory: its lines, places, visits, turns and draws, its doorkeeper and its counters. This is a plain
 * holder. Three files change it, and each leaves it consistent: `room-answers.ts` (answers to visitors), `door-turn.ts`
 * (admissions) and `kept-room.ts` (restoring a stored room).
 *
 * A place is identified by its origin, the sequence it was first given. The lines hold its present sequence, which is a
 * different one after a missed turn. `setBacks` maps between both.
 *
 * Invariants: a place is in one line exactly when its state is WAITING; `turns` counts the ADMITTED;
 * `lapsed` counts the LAPSED; visits from this room's places are ON_SITE; and visits + firm turns never exceed
 * `totalActiveUsers` by the door's doing.
 */
import { BaseBooks, type Elsewhere } from "../../core/base-books.ts";
import type { Crowd } from "../../core/doorkeeper.ts";
import { NO_TOTALS, type Remark, type Totals, type Waiting } from "../../core/engine.ts";
import { LaneLines } from "../../core/lane-lines.ts";
import { Line } from "../../core/line.ts";
import { wholeTenth } from "../../core/pacing.ts";
import { EVERYBODY, type RoomRules } from "../../core/rules.ts";
import { Tallies } from "../../core/tallies.ts";
import { Draws } from "./draws.ts";
import { Invites } from "./invites.ts";
import { LastMoment } from "./last-moment.ts";
import { GONE, Places } from "./places.ts";
import { SetBacks } from "./set-backs.ts";
import { Turns } from "./turns.ts";
import { type Visit, Visits } from "./visits.ts";

/** Sequences start from the clock, a thousand a millisecond: a new process never gives out an old one. */
const SEQUENCE_EPOCH = Date.UTC(2025, 0, 1);
const SEQUENCES_PER_MS = 1_000;

export interface RoomEvents {
  readonly onTurns: (sequences: readonly number[]) => void;
  readonly onRevoked: (id: string, until: number) => void;
  /** Places have changed hands by lot. */
  readonly onDraw: () => void;
  readonly onRemark: (remark: Remark) => void;
}

export interface RoomParts {
  readonly name: string;
  readonly rules: RoomRules;
  readonly events: RoomEvents;
  readonly now: number;
  /** Someone takes the changes to keep them. */
  readonly isKept: boolean;
  /** Slots that other rooms of the same budget leave to this one. */
  readonly budgetFree: () => number;
}

export class RoomBooks extends BaseBooks<Line> {
  readonly events: RoomEvents;
  readonly places: Places;
  readonly lines = new LaneLines(() => new Line());
  readonly visits: Visits;
  readonly turns: Turns;
  readonly setBacks: SetBacks;
  readonly draws: Draws;
  readonly invites: Invites;
  readonly lastMoment: LastMoment;
  readonly crowd: Crowd;
  nextSequence: number;
  readonly tallies = new Tallies();
  /** Kept places nobody is waiting for at the moment. */
  lapsed = 0;
  readonly totals: { -readonly [Key in keyof Totals]: number } = { ...NO_TOTALS };
  boardVersion = 0;
  /** When what is over was last forgotten. */
  forgottenAt: number;
  /** When the changes were last taken. */
  memoAt = Number.NEGATIVE_INFINITY;
  /** The latest answer whose ticket alone is not proof enough. */
  unproven: Waiting | null = null;

  constructor({ name, rules, events, now, isKept, budgetFree }: RoomParts) {
    super(name, rules, now);
    this.events = events;
    this.places = new Places(now, isKept);
    this.visits = new Visits(isKept);
    this.turns = new Turns(isKept);
    this.setBacks = new SetBacks(isKept);
    this.draws = new Draws(isKept, now);
    this.invites = new Invites(isKept);
    this.lastMoment = new LastMoment(isKept);
    this.crowd = new RoomCrowd(this, budgetFree);
    this.nextSequence = Math.max(1, (Math.floor(now) - SEQUENCE_EPOCH) * SEQUENCES_PER_MS);
    this.tallies.highest.set(EVERYBODY, this.nextSequence - 1);
    this.forgottenAt = now;
  }

  /** How much of the claim window of a place's turn is over, 0 to 1. */
  turnAge(place: number, now: number): number {
    return this.door.turnAge(this.places.deadline(place), now);
  }

  noteAdmitted(lane: number, sequence: number, now: number): void {
    this.lastTurnAt = now;
    this.totals.admitted++;
    this.tallies.noteLetIn(lane, sequence);
  }

  /** A visit is over, and with it the place that it came from. */
  endPlace(visit: Visit, now: number): void {
    if (visit.sequence >= 0) this.places.set(visit.sequence, GONE, wholeTenth(now));
  }

  protected override elsewhere(): Elsewhere {
    const { turns, visits, lapsed, totals } = this;
    return { admitted: turns.firm, looseTurns: turns.loose, onSite: visits.size, lapsed, totals };
  }

  protected override budgetFree(): number {
    return this.crowd.budgetFree;
  }

  protected override visitsSeen(): Iterable<Visit> {
    return this.visits.sample.values();
  }

  protected override rearrange(): void {
    this.lines.rearrange((sequence) => this.laneOf(this.places.lane(this.setBacks.originOf(sequence))));
  }
}

/**
 * Who is where, as the doorkeeper asks: always as it is at that moment. A class, because every join asks: V8
 * inlines getters of a class, and looks up those of an object literal each time.
 */
export class RoomCrowd implements Crowd {
  readonly #books: RoomBooks;
  readonly #budgetFree: () => number;

  constructor(books: RoomBooks, budgetFree: () => number) {
    this.#books = books;
    this.#budgetFree = budgetFree;
  }

  get waiting(): number {
    return this.#books.lines.size;
  }

  get admitted(): number {
    return this.#books.turns.firm;
  }

  get onSite(): number {
    return this.#books.visits.size;
  }

  get budgetFree(): number {
    return this.#budgetFree();
  }

  waitingIn(lane: number): number {
    return this.#books.lines.waitingIn(lane);
  }

  turnAges(now: number): number[] {
    return Array.from(this.#books.turns.firmPlaces(), (place) => this.#books.turnAge(place, now));
  }

  isHeldBack(now: number): boolean {
    const { lastMoment, nextSequence, door } = this.#books;
    return lastMoment.isHeld(nextSequence, now) || this.#books.isDrawDue(door.phase(now));
  }
}
