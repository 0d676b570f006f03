/**
 * The engine interface: where lines and counts live. Memory, Redis, cluster and edge all answer these calls, and all
 * pass the suite in `testing/engines/conformance.ts`.
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
 *      │        lapsed ◀───────────────────────────┤                  │
 *      │             (further behind, missed-turns)└─▶ forfeited      │
 *      └──────────────────────────────────────────────────────────────┘ (room in the room: straight through)
 *
 * A turn is firm at first and loose later (firm-turns.ts). Whoever comes with a loose turn to a full site goes back to
 * waiting, at the front.
 */
import type { Board, RoomState, WaitRange } from "./board.ts";
import type { DrawRecord } from "./draw.ts";
import type { Pass } from "./pass.ts";
import type { RoomRules } from "./rules.ts";
import type { Ticket } from "./ticket.ts";

export type Eventually<T> = T | Promise<T>;

export interface Engine {
  /** A newcomer: straight through with a pass while there is room and no line, else a place at the end of their lane. */
  join(room: string, newcomer?: Newcomer): Eventually<JoinAnswer>;
  /** True when a newcomer like any other would go straight through now. Nothing is done. */
  hasRoom(room: string): Eventually<boolean>;
  /** "I am still here." Keeps the place living, takes a lapsed one back, tells what has become of it. */
  checkIn(ticket: Ticket): Eventually<TicketAnswer>;
  /** Uses a turn. Asking again with the same ticket gives the same visit, never a second one. */
  enter(ticket: Ticket): Eventually<TicketAnswer>;
  /**
   * Someone comes back with a pass that has run out. Entered: their visit is still on, because it was renewed meanwhile; or
   * it was over and has begun again under the same id, which `mayBegin` asks for. That takes a free slot before
   * anyone who waits, counts in the rate, and is bounded (resumes.ts). Null: neither.
   */
  resume(pass: Pass, mayBegin: boolean): Eventually<Entered | null>;
  /** Presence of visitors on the site, in batches. An unknown, unexpired pass is taken in and counted. */
  touch(room: string, presences: readonly Presence[]): Eventually<void>;
  /**
   * Gives up a place or a visit. Doing it twice is the same as once. Connections of a visit may be open for a while more, so its
   * slot is held for the rules' `lingerMs`. `isIdle`: none is open at this gateway; where it is the only one, the slot is free
   * at once.
   */
  leave(place: Ticket | Pass, isIdle?: boolean): Eventually<void>;
  /** Ends a visit from outside; its slot is held in the same way. False when nobody by that id is on the site. */
  revoke(room: string, id: string): Eventually<boolean>;
  /**
   * No connection of a visit that was left or revoked is open at this gateway any more. Where it is the only one, the slot is
   * free at once; elsewhere nothing is done, since another gateway may have one that it has told nobody of yet.
   */
  vacated(room: string, id: string): void;
  counts(room: string): Eventually<Counts>;
  board(room: string): Eventually<Board>;
  /** How the origin behind a room does, as one gateway sees it; told about once a second. */
  report(room: string, load: Load): Eventually<void>;
  /** An event's draw: its commitment, and once it is drawn everything to check it by. Null: no such draw here. */
  draw(room: string, event: string): Eventually<DrawRecord | null>;
  /** Opens a room or changes its rules. Every place is kept. */
  configure(room: string, rules: RoomRules): Eventually<void>;
  /** One turn of the door: expire, lapse, admit. Engines also do this by themselves. */
  admit(room: string): Eventually<Admission>;
  /** Hears of every turn, ended visit and new board; current ended visits are told at once. Returns the way to stop. */
  subscribe(listener: EngineListener): () => void;
  close(): Eventually<void>;
}

/** Someone who joins. */
export interface Newcomer {
  readonly lane: number;
  /** The one-time code they came with: good for one place. Null: none. */
  readonly invite: Invite | null;
  /** False: a place would be lost on them. They go straight through or get nothing, and nothing of theirs is used up. */
  readonly canWait: boolean;
  /** How long their visit lasts at first, if they go straight through. Left out: a session. */
  readonly visitMs?: number;
}

export interface Invite {
  readonly id: string;
  /** When the code runs out; nobody need remember it for longer. */
  readonly expiresAt: number;
}

/** A newcomer like any other. */
export const ANYBODY: Newcomer = { lane: 0, invite: null, canWait: true };

/** What one gateway saw of a room's origin since it last told. */
export interface Load {
  /** Which gateway tells. */
  readonly from: string;
  readonly periodMs: number;
  /** Requests of any kind that came for the room. */
  readonly requests: number;
  /** Answers of the origin, those that never came included. */
  readonly answers: number;
  /** Of these, errors of the origin's (5xx) and answers that never came. */
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
   * Living tickets before this one, never more than was shown before but after a missed turn. Null: not known yet, or not
   * to be known.
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
 * `ticketSpent`: its visit is over or its holder left. `turnsMissed`: its turn came `missedTurnsMax` times and was not
 * used. `unknownRoom`: no such room here. Of newcomers: `closed`, the room takes nobody; `rejected`, it takes nobody into
 * a line; `notPrivileged`, it is for privileged lanes alone; `inviteUsed`, their code has given a place to somebody
 * already; `mustWait`, there is a line and they cannot wait.
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

/** One visitor seen on the site, as told by their pass. */
export type Presence = Pick<Pass, "id" | "lane" | "joinedAt" | "admittedAt" | "expiresAt">;

export interface Counts {
  /** Living tickets in the line. */
  readonly waiting: number;
  /** Turns given and not used yet, for which a slot is kept. */
  readonly admitted: number;
  /** Turns that may still be used, for which none is kept any more. */
  readonly looseTurns: number;
  readonly onSite: number;
  /** Kept places nobody is waiting for at the moment. */
  readonly lapsed: number;
  readonly ratePerMinute: number;
  /** Normalised Kendall tau distance between order of joining and order of admission, lately. 0 is perfect. */
  readonly unfairness: number;
  readonly state: RoomState;
  /** The event that is on, its prequeue included. */
  readonly event: string | null;
  /** What holds now: the settings', an event's, or less by the adaptive loop. */
  readonly limits: Limits;
  /** False while the room stands by without a line. */
  readonly isActive: boolean;
  /** Smoothed share of turns that nobody used. */
  readonly noShows: number;
  /** Foremost first, everybody's last; just that one where there are no others. */
  readonly lanes: readonly LaneCounts[];
  /** What the room did by itself lately, and why; the latest last. */
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
  /** How much longer whoever joins this lane now will wait because of lanes before it. Null: not known. */
  readonly costMs: number | null;
}

/** A sentence for the operator. */
export interface Remark {
  readonly at: number;
  readonly text: string;
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
  /** Places lost by missed turns. */
  readonly forfeited: number;
  readonly left: number;
  readonly expired: number;
  readonly revoked: number;
  /** Milliseconds waited by everyone admitted, added up. */
  readonly waitedMs: number;
}

/** Nothing has happened yet. */
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
  /** Why not more, in the door's words. */
  readonly reason: DoorReason;
}

export type DoorReason = "line empty" | "site full" | "rate" | "paused" | "not started" | "closed";

export interface EngineListener {
  onTurns?(room: string, sequences: readonly number[]): void;
  /** `until`: when the last pass with this id runs out by itself. */
  onRevoked?(room: string, id: string, until: number): void;
  onBoard?(board: Board): void;
  /** Places have changed hands by lot: tickets from before have new sequences. */
  onDraw?(room: string): void;
  /** The room did something by itself. */
  onRemark?(room: string, remark: Remark): void;
}
