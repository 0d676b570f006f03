/**
 * The engine interface: where lines and counts live. Memory, Redis, cluster and edge all answer these calls, and all
 * pass the suite in `engines/conformance.ts`.
 *
 * Answers are values the caller must handle, never exceptions. An engine throws (or rejects) only when it cannot
 * answer at all: its store is away. What then happens to visitors is the gateway's setting.
 *
 * An engine may answer at once or later. The embedded one answers at once, and the gateway uses that: a check-in then
 * costs no promise.
 *
 *      join                          admit                 enter
 *  ───────────▶ waiting ──────────────────────▶ admitted ────────▶ on site ──▶ gone
 *      │         │    ▲                            │                  ▲    leave, expiry, revoke
 *      │   lapse ▼    │ check-in       claim window│                  │
 *      │        lapsed ◀───────────────────────────┘                  │
 *      └──────────────────────────────────────────────────────────────┘ (room in the room: straight through)
 */
import type { Board, WaitRange } from "./board.ts";
import type { Pass } from "./pass.ts";
import type { RoomRules } from "./rules.ts";
import type { Ticket } from "./ticket.ts";

export type Eventually<T> = T | Promise<T>;

export interface Engine {
  /** A newcomer: straight through with a pass while there is room and no line, else a place at the end. */
  join(room: string): Eventually<JoinAnswer>;
  /** "I am still here." Keeps the place living, takes a lapsed one back, tells what has become of it. */
  checkIn(ticket: Ticket): Eventually<TicketAnswer>;
  /** Uses a turn. Asking again with the same ticket gives the same visit, never a second one. */
  enter(ticket: Ticket): Eventually<TicketAnswer>;
  /** Presence of visitors on the site, in batches. An unknown, unexpired pass is taken in and counted. */
  touch(room: string, presences: readonly Presence[]): Eventually<void>;
  /** Gives up a place or a visit. Doing it twice is the same as once. */
  leave(place: Ticket | Pass): Eventually<void>;
  /** Ends a visit from outside. False when nobody by that id is on the site. */
  revoke(room: string, id: string): Eventually<boolean>;
  counts(room: string): Eventually<Counts>;
  board(room: string): Eventually<Board>;
  /** Opens a room or changes its rules. Every place is kept. */
  configure(room: string, rules: RoomRules): Eventually<void>;
  /** One turn of the door: expire, lapse, admit. Engines also do this by themselves. */
  admit(room: string): Eventually<Admission>;
  /** Hears of every turn, ended visit and new board; current ended visits are told at once. Returns the way to stop. */
  subscribe(listener: EngineListener): () => void;
  close(): Eventually<void>;
}

export type JoinAnswer = Waiting | Entered | Refused;
export type TicketAnswer = Waiting | Admitted | Entered | Expired | Refused;

export interface Waiting {
  readonly kind: "waiting";
  readonly ticket: Ticket;
  /** Living tickets before this one, never more than was shown before. */
  readonly ahead: number;
  readonly waitMs: WaitRange | null;
  readonly nextCheckInMs: number;
}

export interface Admitted {
  readonly kind: "admitted";
  readonly ticket: Ticket;
  /** Enter before this instant, or the turn goes to the next. */
  readonly claimBy: number;
}

export interface Entered {
  readonly kind: "entered";
  readonly pass: Pass;
}

export interface Expired {
  readonly kind: "expired";
}

export interface Refused {
  readonly kind: "refused";
  readonly reason: RefusalReason;
}

/** `ticketSpent`: its visit is over or its holder left. `unknownRoom`: no such room here. */
export type RefusalReason = "ticketSpent" | "unknownRoom";

/** One visitor seen on the site, as told by their pass. */
export type Presence = Pick<Pass, "id" | "lane" | "joinedAt" | "admittedAt" | "expiresAt">;

export interface Counts {
  /** Living tickets in the line. */
  readonly waiting: number;
  /** Admitted and not yet entered. */
  readonly admitted: number;
  readonly onSite: number;
  /** Kept places nobody is waiting for at the moment. */
  readonly lapsed: number;
  readonly ratePerMinute: number;
  /** Normalised Kendall tau distance between order of joining and order of admission, lately. 0 is perfect. */
  readonly unfairness: number;
  readonly totals: Totals;
}

/** Since the engine started, or as far back as its store remembers. */
export interface Totals {
  readonly joined: number;
  readonly straightThrough: number;
  readonly admitted: number;
  readonly entered: number;
  readonly lapsed: number;
  readonly returned: number;
  readonly missedTurns: number;
  readonly left: number;
  readonly expired: number;
  readonly revoked: number;
  /** Milliseconds waited by everyone admitted, added up. */
  readonly waitedMs: number;
}

export interface Admission {
  readonly admitted: number;
  /** Why not more, in the door's words. */
  readonly reason: DoorReason;
}

export type DoorReason = "line empty" | "site full" | "rate" | "paused";

export interface EngineListener {
  onTurns?(room: string, sequences: readonly number[]): void;
  /** `until`: when the last pass with this id runs out by itself. */
  onRevoked?(room: string, id: string, until: number): void;
  onBoard?(board: Board): void;
}
