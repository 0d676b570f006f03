/**
 * The engine interface: where lines and counts live. Memory, Redis, cluster and edge all answer these calls, and all
 * pass the suite in `testing/engines/conformance.ts`.
 *
 * Answers are values the caller must handle, never exceptions. An engine throws (or rejects) only when it cannot
 * answer at all: its store is away. What then happens to visitors is the gateway's setting.
 *
 * An engine may answer synchronously or with a promise. The embedded one answers synchronously, which saves the gateway a
 * promise for each check-in.
 *
 *      join                          admit                 enter
 *  ───────────▶ waiting ──────────────────────▶ admitted ────────▶ on site ──▶ gone
 *      │         │    ▲                            │                  ▲    leave, expiry, revoke
 *      │   lapse ▼    │ check-in       claim window│                  │
 *      │        lapsed ◀───────────────────────────┤                  │
 *      │             (further behind, missed-turns)└─▶ forfeited      │
 *      └──────────────────────────────────────────────────────────────┘ (room in the room: straight through)
 *
 * A turn is firm at first and loose later (firm-turns.ts). A visitor with a loose turn who finds the site full goes back to
 * waiting, at the front.
 */
import type { Board, RoomState, WaitRange } from "./board.ts";
import type { DrawRecord } from "./draw.ts";
import type { Pass } from "./pass.ts";
import type { RoomRules } from "./rules.ts";
import type { Ticket } from "./ticket.ts";
import type { WaitAccuracy } from "./told-waits.ts";

export type Eventually<T> = T | Promise<T>;

export interface Engine {
  /** A newcomer: straight through with a pass while there is room and no line, else a place at the end of their lane. */
  join(room: string, newcomer?: Newcomer): Eventually<JoinAnswer>;
  /** True when an ordinary newcomer would go straight through now. Changes nothing. */
  hasRoom(room: string): Eventually<boolean>;
  /** "I am still here." Keeps the place alive, revives a lapsed one, and returns its state. */
  checkIn(ticket: Ticket): Eventually<TicketAnswer>;
  /** Uses a turn. The same ticket always gives the same visit, never a second one. */
  enter(ticket: Ticket): Eventually<TicketAnswer>;
  /**
   * A visitor comes back with an expired pass. Entered: their visit is still on, because it was renewed meanwhile; or, with
   * `mayBegin`, it had ended and has begun again under the same id. That takes a free slot ahead of those who wait, counts in
   * the rate, and is bounded (resumes.ts). Null: neither.
   */
  resume(pass: Pass, mayBegin: boolean): Eventually<Entered | null>;
  /** Presence of visitors on the site, in batches. An unknown, unexpired pass is taken in and counted. */
  touch(room: string, presences: readonly Presence[]): Eventually<void>;
  /**
   * Gives up a place or a visit; idempotent. Connections of a visit may stay open for a while, so its slot is held for the
   * rules' `lingerMs`. `isIdle`: none is open at this gateway; where it is the only gateway, the slot is free at once.
   */
  leave(place: Ticket | Pass, isIdle?: boolean): Eventually<void>;
  /** Ends a visit from outside; its slot is held in the same way. False: no visitor with that id is on the site. */
  revoke(room: string, id: string): Eventually<boolean>;
  /**
   * The last connection of a left or revoked visit has closed at this gateway. Where it is the only gateway, the slot is free
   * at once; elsewhere nothing is done, since another gateway may have a connection that it has not reported yet.
   */
  vacated(room: string, id: string): void;
  counts(room: string): Eventually<Counts>;
  board(room: string): Eventually<Board>;
  /** The load of a room's origin as one gateway measured it; called about once a second. */
  report(room: string, load: Load): Eventually<void>;
  /** An event's draw: its commitment, and once it is drawn all that is needed to check it. Null: no such draw here. */
  draw(room: string, event: string): Eventually<DrawRecord | null>;
  /** Opens a room or changes its rules. Every place is kept. */
  configure(room: string, rules: RoomRules): Eventually<void>;
  /** One turn of the door: expire, lapse, admit. Engines also do this on their own timers. */
  admit(room: string): Eventually<Admission>;
  /** Reports every turn, ended visit and new board, and at once the visits ended already. Returns the function that stops it. */
  subscribe(listener: EngineListener): () => void;
  close(): Eventually<void>;
}

/** Someone who joins. */
export interface Newcomer {
  readonly lane: number;
  /** The one-time code they came with, valid for one place. Null: none. */
  readonly invite: Invite | null;
  /** False: they cannot keep a place. They go straight through or get nothing, and no code of theirs is used up. */
  readonly canWait: boolean;
  /** How long their visit lasts at first, if they go straight through. Default: a session. */
  readonly visitMs?: number;
}

export interface Invite {
  readonly id: string;
  /** When the code expires, and can be forgotten. */
  readonly expiresAt: number;
}

/** An ordinary newcomer. */
export const ANYBODY: Newcomer = { lane: 0, invite: null, canWait: true };

/** What one gateway measured of a room's origin since its last report. */
export interface Load {
  /** The reporting gateway. */
  readonly from: string;
  readonly periodMs: number;
  /** Requests of any kind that came for the room. */
  readonly requests: number;
  /** Answers of the origin, including those that never came. */
  readonly answers: number;
  /** Of these, server errors (5xx) and answers that never came. */
  readonly errors: number;
  /** 95th percentile of the time to the first byte. Null: no answers. */
  readonly latencyMs: number | null;
  /** Requests under way now. */
  readonly inFlight: number;
}

export type JoinAnswer = Waiting | Entered | Refused;
export type TicketAnswer = Waiting | Admitted | Entered | Expired | Refused;

export interface Waiting {
  readonly kind: "waiting";
  readonly ticket: Ticket;
  /**
   * Living tickets before this one. It never rises, except after a missed turn. Null: not known yet, or not to be shown.
   */
  readonly ahead: number | null;
  readonly waitMs: WaitRange | null;
  readonly nextCheckInMs: number;
}

export interface Admitted {
  readonly kind: "admitted";
  readonly ticket: Ticket;
  /** Enter before this instant, or the turn is missed. */
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

/**
 * `ticketSpent`: its visit is over or its holder left. `turnsMissed`: its turn came `missedTurnsMax` times and was not used.
 * `unknownRoom`: no such room here. For newcomers: `closed`, the room is closed; `rejected`, it has no line to join;
 * `notPrivileged`, only privileged lanes may join; `inviteUsed`, their code was used already; `mustWait`, there is a line and
 * they cannot wait.
 */
export type RefusalReason =
  | "ticketSpent"
  | "turnsMissed"
  | "unknownRoom"
  | "closed"
  | "rejected"
  | "notPrivileged"
  | "inviteUsed"
  | "mustWait";

/** A visitor seen on the site, from their pass. */
export type Presence = Pick<Pass, "id" | "lane" | "joinedAt" | "admittedAt" | "expiresAt">;

export interface Counts {
  /** Living tickets in the line. */
  readonly waiting: number;
  /** Firm turns: given, not used yet, with a slot reserved. */
  readonly admitted: number;
  /** Loose turns: still usable, without a reserved slot. */
  readonly looseTurns: number;
  readonly onSite: number;
  /** Places whose holders stopped checking in; kept for their return. */
  readonly lapsed: number;
  readonly ratePerMinute: number;
  /** Normalised Kendall tau distance between order of joining and order of admission, lately. 0 is perfect. */
  readonly unfairness: number;
  readonly state: RoomState;
  /** The event that is on, its prequeue included. */
  readonly event: string | null;
  /** In force now: from the settings or an event, possibly lowered by the adaptive loop. */
  readonly limits: Limits;
  /** False while the room stands by without a line. */
  readonly isActive: boolean;
  /** Smoothed share of turns that nobody used. */
  readonly noShows: number;
  /** How good the waits told in the past hour were. Null: nothing to compare yet. */
  readonly waitAccuracy: WaitAccuracy | null;
  /** In order of priority, the default lane last. */
  readonly lanes: readonly LaneCounts[];
  /** Recent automatic changes and their reasons; the latest last. */
  readonly remarks: readonly Remark[];
  readonly totals: Totals;
}

export interface Limits {
  readonly totalActiveUsers: number | null;
  readonly newUsersPerMinute: number | null;
}

export interface LaneCounts {
  readonly lane: number;
  readonly name: string;
  readonly waiting: number;
  /** Admitted since the engine started. */
  readonly admitted: number;
  /** How much longer a visitor who joins this lane now will wait because of the lanes before it. Null: not known. */
  readonly costMs: number | null;
}

/** A sentence for the operator. */
export interface Remark {
  readonly at: number;
  readonly text: string;
}

/** Since the engine started, or as far back as its store reaches. */
export interface Totals {
  readonly joined: number;
  readonly straightThrough: number;
  readonly admitted: number;
  readonly entered: number;
  readonly lapsed: number;
  readonly returned: number;
  readonly missedTurns: number;
  /** Places lost by missed turns. */
  readonly forfeited: number;
  readonly left: number;
  readonly expired: number;
  readonly revoked: number;
  /** Total milliseconds that admitted visitors waited. */
  readonly waitedMs: number;
}

export const NO_TOTALS: Totals = {
  joined: 0,
  straightThrough: 0,
  admitted: 0,
  entered: 0,
  lapsed: 0,
  returned: 0,
  missedTurns: 0,
  forfeited: 0,
  left: 0,
  expired: 0,
  revoked: 0,
  waitedMs: 0,
};

export interface Admission {
  readonly admitted: number;
  /** Why not more. */
  readonly reason: DoorReason;
}

export type DoorReason = "line empty" | "site full" | "rate" | "paused" | "not started" | "closed";

export interface EngineListener {
  onTurns?(room: string, sequences: readonly number[]): void;
  /** `until`: when the last pass with this id expires anyway. */
  onRevoked?(room: string, id: string, until: number): void;
  onBoard?(board: Board): void;
  /** A draw has been made: tickets from before it have new sequences. */
  onDraw?(room: string): void;
  /** The room changed something automatically. */
  onRemark?(room: string, remark: Remark): void;
}
