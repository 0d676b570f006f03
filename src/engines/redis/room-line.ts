/**
 * The interface of a room's line: exact, in one hash slot, or relaxed, in shards on several. Presence, the ends of visits and
 * the lease are handled outside.
 */
import type { JoinAnswer, Newcomer, TicketAnswer } from "../../core/engine.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { Look } from "./room-look.ts";

export interface LookOptions {
  readonly hasMarks?: boolean;
  /** With the latest admissions, by which fairness is told. */
  readonly hasRecent?: boolean;
}

/** A turn of the door, by the gateway that has the lease or asks for it. */
export interface TurnCall {
  readonly now: string;
  readonly gateway: string;
  readonly fence: number;
  /** What standby and the adaptive loop say; empty texts where they say nothing. */
  readonly orders: readonly string[];
  readonly dice: readonly string[];
}

/** What came of it. */
export interface Turned {
  /** 0: another gateway has the lease, for `leftMs` more. */
  readonly fence: number;
  readonly leftMs: number;
  readonly reason: string;
  /** There is more to do at once. */
  readonly hasMore: boolean;
  /** The draw that is due; 0 for none. */
  readonly draw: number;
  readonly waiting: number;
  readonly sequences: readonly number[];
}

export interface RoomLine {
  /** Opens it in Redis, or puts other rules in force. `awayMs`: how long people may have been told to stay away. */
  configure(rules: RoomRules, awayMs: number): Promise<void>;
  join(newcomer: Newcomer): Promise<JoinAnswer>;
  /** A ticket is shown to check in (`c`), or to enter (`e`). */
  show(what: "c" | "e", ticket: Ticket): Promise<TicketAnswer>;
  /** Gives up a place, or the visit it has become; until when that visit's end is remembered, 0 for none. */
  leave(ticket: Ticket): Promise<number>;
  look(options: LookOptions, now: string): Promise<Look>;
  turn(call: TurnCall): Promise<Turned>;
  /** Sends the calls that have gathered. */
  flush(): void;
}
