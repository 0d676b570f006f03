/**
 * What a node has of a room's door, as the doorkeeper sees it when a visitor comes.
 *
 * A node that is alone has the whole door: the room is as the books say, and the doorkeeper learns at once what becomes of turns,
 * as in the embedded engine. In a cluster of several nodes each has a share: its spare slots are all the room there is, and the
 * root learns of turns in the next counting round.
 *
 * All differences between the two are here and in how the door runs (door-duty.ts). Both are chosen when a view begins.
 */
import type { Crowd, Doorkeeper } from "../../../core/doorkeeper.ts";
import type { Phase } from "../../../core/schedule.ts";
import type { NodeLines } from "../visitors/node-lines.ts";
import { isFirm, type Place } from "../visitors/place.ts";
import type { RecentTurns } from "./recent-turns.ts";
import type { RoomFlow } from "./room-flow.ts";
import type { TurnNews } from "./turn-news.ts";

interface DoorBooks {
  readonly door: Doorkeeper;
  readonly flow: RoomFlow;
  readonly turnNews: TurnNews;
  readonly recentTurns: RecentTurns;
  readonly lines: NodeLines;
  readonly places: ReadonlyMap<number, Place>;
  /** Firm turns and slots in use, on all nodes. */
  readonly turns: number;
  readonly onSite: number;
  /** This node's unused slots. */
  readonly spare: number;
  turnAge(place: Place, now: number): number;
  isDrawDue(phase: Phase): boolean;
}

export interface Hand extends Crowd {
  /** One of this node's turns is used, firm or loose. */
  used(turn: Place, now: number): void;
  wentThrough(now: number): void;
  /** One of this node's turns became loose, or the holder of a firm one left. */
  gaveBack(why: "loose" | "left", now: number): void;
  missed(): void;
  /** How many were admitted from a lane since this turn was given. */
  letInSince(lane: number, turn: Place, isRandom: boolean): number;
}

abstract class OfDoor {
  protected readonly books: DoorBooks;

  constructor(books: DoorBooks) {
    this.books = books;
  }

  get waiting(): number {
    return this.books.lines.size;
  }

  waitingIn(lane: number): number {
    return this.books.lines.waitingIn(lane);
  }

  *turnAges(now: number): Generator<number> {
    for (const place of this.books.places.values()) if (isFirm(place)) yield this.books.turnAge(place, now);
  }

  isHeldBack(now: number): boolean {
    return this.books.isDrawDue(this.books.door.phase(now));
  }

  protected letIn(lane: number, { claim, sequence }: Place, isAsTold: boolean): number {
    return this.books.recentTurns.after(lane, { at: claim.admittedAt, sequence }, isAsTold);
  }
}

export class WholeDoor extends OfDoor implements Hand {
  readonly #budgetFree: () => number;

  /** `budgetFree`: slots that the other rooms of the same budget leave to this one. */
  constructor(books: DoorBooks, budgetFree: () => number) {
    super(books);
    this.#budgetFree = budgetFree;
  }

  get admitted(): number {
    return this.books.turns;
  }

  get onSite(): number {
    return this.books.onSite;
  }

  get budgetFree(): number {
    return this.#budgetFree();
  }

  used(turn: Place, now: number): void {
    this.books.door.entered(this.books.turnAge(turn, now), now);
  }

  wentThrough(now: number): void {
    this.books.door.entered(null, now);
  }

  gaveBack(why: "loose" | "left", now: number): void {
    this.books.door.gaveBack(why, now);
  }

  missed(): void {
    this.books.door.missed();
  }

  letInSince(lane: number, turn: Place): number {
    return this.letIn(lane, turn, true);
  }
}

export class ShareOfDoor extends OfDoor implements Hand {
  get admitted(): number {
    return 0;
  }

  get onSite(): number {
    const { door, spare } = this.books;
    return (door.capacity ?? spare) - spare;
  }

  get budgetFree(): number {
    return this.books.door.rules.budget ? this.books.spare : Number.POSITIVE_INFINITY;
  }

  /** A visitor with a loose turn enters by leave, like a newcomer. */
  used(turn: Place, now: number): void {
    if (!isFirm(turn)) return;
    this.books.flow.enter(1, now);
    this.books.turnNews.note("entered");
  }

  /** Leave was charged when it was handed out. */
  wentThrough(): void {}

  gaveBack(why: "loose" | "left"): void {
    this.books.turnNews.note(why === "loose" ? "loosened" : "left");
  }

  missed(): void {
    this.books.turnNews.note("missed");
  }

  /**
   * The turns of one round were given at the same instant, in the order of their numbers; turns by lot are in the order they were
   * reported.
   */
  letInSince(lane: number, turn: Place, isRandom: boolean): number {
    return this.letIn(lane, turn, isRandom);
  }
}
