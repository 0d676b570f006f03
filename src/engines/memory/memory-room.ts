/**
 * One room in memory, as the engine sees it: answers to visitors (room-answers.ts), and here everything else. Only these two
 * files change its books. Synchronous and told the time; the engine owns the clock and the timers.
 */
import type { Board, RoomState } from "../../core/board.ts";
import type { DrawRecord } from "../../core/draw.ts";
import type { Admission, Counts, JoinAnswer, Load, TicketAnswer } from "../../core/engine.ts";
import { boardOf, countsOf, stateOf } from "../../core/room-view.ts";
import type { RoomRules } from "../../core/rules.ts";
import { turnMemoryDoor } from "./door-turn.ts";
import {
  hasChanges,
  type KeptRoom,
  mustBeKept,
  type RoomMemo,
  type RoomWrites,
  restore,
  takeChanges,
} from "./kept-room.ts";
import { RoomAnswers } from "./room-answers.ts";
import { RoomCrowd } from "./room-books.ts";

export class MemoryRoom extends RoomAnswers {
  get rules(): RoomRules {
    return this.books.door.rules;
  }

  /** Puts other rules in force; everyone keeps their place. */
  change(rules: RoomRules, now: number): void {
    this.books.change(rules, now);
  }

  /** Slots in use, for a budget shared with other rooms: visitors on the site and firm turns. */
  get used(): number {
    return this.books.visits.size + this.books.turns.firm;
  }

  /** How many it would admit now without the budget. */
  wanted(now: number): number {
    const unbudgeted = new RoomCrowd(this.books, () => Number.POSITIVE_INFINITY);
    return this.books.door.open(unbudgeted, now).admit;
  }

  /** When someone was admitted last; 0: never. */
  get lastTurnAt(): number {
    return this.books.lastTurnAt;
  }

  report(load: Load, now: number): void {
    this.books.door.report(load, now);
  }

  /** One turn of the door. */
  admit(dice: () => number, now: number): Admission {
    return turnMemoryDoor(this.books, dice, now);
  }

  counts(now: number): Counts {
    return countsOf(this.books.figures(now));
  }

  board(now: number): Board {
    return boardOf(this.books.figures(now), ++this.books.boardVersion);
  }

  state(now: number): RoomState {
    return stateOf(this.books.door.phase(now), this.books.lines.size);
  }

  /** An event's draw; null when there is no such event, it has no draw, or the draw is forgotten. */
  draw(name: string, now: number): DrawRecord | null {
    const event = this.rules.events.find((known) => known.name === name);
    return event?.isShuffled ? this.books.draws.record(event, now) : null;
  }

  /** Ended visits whose pass has not run out yet. */
  ended(): Iterable<[id: string, until: number]> {
    return this.books.visits.ended();
  }

  /** True when there are changes that were not taken yet. */
  hasChanges(now: number): boolean {
    return hasChanges(this.books, now);
  }

  /** All changes since the last call. */
  takeChanges(now: number, isClosed = false): RoomWrites {
    return takeChanges(this.books, now, isClosed);
  }

  /** The changes taken last are on disk. */
  changesKept(memo: RoomMemo): void {
    this.books.lastMoment.kept(memo.lastMoment);
  }

  /** True when the answer just made must be on disk before it is sent. */
  mustBeKept(answer: JoinAnswer | TicketAnswer): boolean {
    return mustBeKept(this.books, answer);
  }

  /** Restores a stored room; called once, before anything else. */
  restore(kept: KeptRoom, now: number): void {
    restore(this.books, kept, now);
  }
}
