/**
 * A room in storage: its changes are written, and all of it is restored after a restart. Deadlines are not stored but set anew,
 * since nobody could meet them while the process was away.
 */
import type { DoorkeeperMemo } from "../../core/doorkeeper.ts";
import type { JoinAnswer, TicketAnswer, Totals } from "../../core/engine.ts";
import type { Measured } from "../../core/eta.ts";
import { lapseDeadline, longestCheckIn, wholeTenth } from "../../core/pacing.ts";
import type { WaitsMemo } from "../../core/room-waits.ts";
import type { SetBack } from "../../core/ticket.ts";
import type { DrawMemo } from "./draws.ts";
import type { LastMomentMemo } from "./last-moment.ts";
import { ADMITTED, BLOCK_SIZE, LAPSED, type State, WAITING } from "./places.ts";
import type { RoomBooks } from "./room-books.ts";
import type { KeptTurn } from "./turns.ts";
import type { Visit } from "./visits.ts";

/** After a crash: for how long before it a pass may have been renewed without a trace on disk. */
const PRESENCE_UNSEEN_MS = 3_000;
/** More sequences than can have been given between the last write and a crash. */
const SEQUENCES_UNSEEN_MAX = 1_000_000;
/** While visitors are on the site, the stored room is at most this old. */
const HEARTBEAT_MS = 1_000;

/**
 * The format version. Rises when an older program could no longer read the stored room, or this one could not read an older
 * format.
 */
export const KEPT_VERSION = 3;
/** The previous version, which can still be read: without loose turns and missed turns. */
export const READABLE_VERSION = 2;

/** What is stored of a room besides its places and visits. */
export interface RoomMemo {
  /** The format version of everything stored. */
  readonly version: typeof KEPT_VERSION;
  readonly nextSequence: number;
  /** For each lane: the highest admitted sequence, and how many were admitted. */
  readonly admittedSequences: readonly [lane: number, sequence: number][];
  readonly admittedInLane: readonly [lane: number, count: number][];
  readonly waiting: number;
  /** The lanes that codes in the stored blocks stand for. */
  readonly lanes: readonly number[];
  readonly totals: Totals;
  readonly door: DoorkeeperMemo;
  readonly draws: readonly DrawMemo[];
  readonly measured: Measured;
  /** Missing in rooms stored by older programs. */
  readonly waits?: WaitsMemo;
  readonly lastMoment: LastMomentMemo;
  readonly seenAt: number;
  /** True after an orderly shutdown: nothing happened after this was stored. */
  readonly isClosed: boolean;
}

/** Changes by name; null for deleted entries. */
export interface RoomWrites {
  readonly memo: RoomMemo;
  readonly blocks: ReadonlyMap<number, Uint8Array | null>;
  readonly turns: ReadonlyMap<number, KeptTurn | null>;
  /** Places that missed turns, by origin. */
  readonly setBacks: ReadonlyMap<number, SetBack | null>;
  readonly visits: ReadonlyMap<string, Visit | number | null>;
  /** Visitors gathered for a draw, in chunks. */
  readonly gathered: ReadonlyMap<string, Uint8Array | null>;
  readonly invites: ReadonlyMap<string, number | null>;
}

/** A room as it was stored. */
export interface KeptRoom {
  readonly memo: RoomMemo;
  /** In the order of their numbers. */
  readonly blocks: Iterable<readonly [block: number, bytes: Uint8Array]>;
  /** By place. The previous version has only the instant at which each was given. */
  readonly turns: ReadonlyMap<number, KeptTurn | number>;
  readonly setBacks: Iterable<readonly [origin: number, setBack: SetBack]>;
  readonly visits: Iterable<readonly [id: string, visit: Visit | number]>;
  readonly gathered: Iterable<readonly [block: string, bytes: Uint8Array]>;
  readonly invites: Iterable<readonly [id: string, expiresAt: number]>;
}

/** True when there are changes that were not taken yet. */
export function hasChanges(books: RoomBooks, now: number): boolean {
  const { places, turns, visits, draws, invites, memoAt } = books;
  if (places.hasChanges || turns.hasChanges || visits.hasChanges) return true;
  if (draws.hasChanges || invites.hasChanges) return true;
  return visits.size > 0 && now - memoAt >= HEARTBEAT_MS;
}

/** All changes since the last call. `isClosed`: nothing will happen after it. */
export function takeChanges(books: RoomBooks, now: number, isClosed: boolean): RoomWrites {
  books.memoAt = now;
  return {
    memo: memoOf(books, now, isClosed),
    blocks: books.places.takeChanges(),
    turns: books.turns.takeChanges(),
    setBacks: books.setBacks.takeChanges(),
    visits: books.visits.takeChanges(),
    gathered: books.draws.takeChanges(),
    invites: books.invites.takeChanges(),
  };
}

function memoOf(books: RoomBooks, now: number, isClosed: boolean): RoomMemo {
  const waiting = books.lines.size;
  return {
    version: KEPT_VERSION,
    nextSequence: books.nextSequence,
    admittedSequences: [...books.tallies.highest],
    admittedInLane: [...books.tallies.letIn],
    waiting,
    lanes: books.places.lanes,
    totals: { ...books.totals },
    door: books.door.memo(now),
    draws: books.draws.memo(),
    measured: books.pace.measured(),
    waits: books.waits.memo(),
    lastMoment: books.lastMoment.memo({ waiting, now }),
    seenAt: now,
    isClosed,
  };
}

/**
 * True when the answer just made must be on disk before it is sent. Answers that give a slot must. A new place need not, since
 * its ticket is the proof, unless its holder is told to stay away for longer than a restored room would hold back those behind
 * them, or used a one-time code. A place that was taken back must: those behind it are on disk already.
 */
export function mustBeKept({ unproven }: RoomBooks, answer: JoinAnswer | TicketAnswer): boolean {
  return answer === unproven || answer.kind === "admitted" || answer.kind === "entered";
}

/**
 * Restores a stored room; called once, before anything else. Waiting visitors get the longest check-in interval that anyone is
 * told, and turns start anew. After a crash, visitors may hold tickets that were never stored, so newcomers stay behind those
 * for a while; and visitors may hold passes whose renewal was never stored, so their slots stay taken.
 */
export function restore(books: RoomBooks, kept: KeptRoom, now: number): void {
  const { memo } = kept;
  const unseen = memo.isClosed ? 0 : SEQUENCES_UNSEEN_MAX;
  books.nextSequence = Math.max(books.nextSequence, memo.nextSequence + unseen);
  for (const [lane, sequence] of memo.admittedSequences) books.tallies.highest.set(lane, sequence);
  for (const [lane, count] of memo.admittedInLane) books.tallies.letIn.set(lane, count);
  Object.assign(books.totals, memo.totals);
  books.door.restore(memo.door, now);
  books.pace.restore(memo.measured);
  if (memo.waits) books.waits.restore(memo.waits);
  books.places.restoreLanes(memo.lanes);
  books.draws.restore(memo.draws, kept.gathered);
  books.invites.restore(kept.invites);
  for (const [origin, setBack] of kept.setBacks) books.setBacks.restore(origin, setBack);
  restorePlaces(books, kept, now);
  restoreVisits(books, kept, now);
  books.lastMoment.restore(memo.lastMoment, memo.isClosed ? null : memo.nextSequence, now);
}

function restorePlaces(books: RoomBooks, { memo, blocks, turns }: KeptRoom, now: number): void {
  const { places, lines, setBacks } = books;
  const { lapseAfterMs, claimWindowMs, ticketTtlMs, pollBudgetPerSecond } = books.rulesAt(now);
  const nextCheckInMs = longestCheckIn({ waiting: memo.waiting, ticketTtlMs, pollBudgetPerSecond });
  const lapseAt = lapseDeadline({ now, nextCheckInMs, lapseAfterMs });
  const claimBy = wholeTenth(now + claimWindowMs);
  const deadlineOf = (place: number, state: State): number => {
    const lane = books.laneOf(places.lane(place));
    if (state === WAITING) lines.add(lane, setBacks.sequenceOf(place));
    else if (state === LAPSED) books.lapsed++;
    if (state !== ADMITTED) return state === WAITING ? lapseAt : wholeTenth(now);
    const turn = turns.get(place) ?? now;
    const kept =
      typeof turn === "number"
        ? { givenAt: turn, letInBefore: books.tallies.letInOf(lane), isFirm: true }
        : turn;
    // Its holder may have come while nothing here could answer, so a firm turn is firm until it ends.
    books.turns.give(place, { ...kept, claimBy, firmUntil: claimBy });
    return claimBy;
  };
  for (const [block, bytes] of blocks) {
    places.restore(block, bytes, deadlineOf);
    places.keepUntil(block * BLOCK_SIZE, now + ticketTtlMs);
  }
}

function restoreVisits(books: RoomBooks, { memo, visits }: KeptRoom, now: number): void {
  const { sessionDurationMs, disableSessionRenewal } = books.rulesAt(now);
  const isRenewedUnseen = !memo.isClosed && !disableSessionRenewal;
  const renewedUntil = isRenewedUnseen ? memo.seenAt + PRESENCE_UNSEEN_MS + sessionDurationMs : 0;
  for (const [id, visit] of visits) {
    if (typeof visit === "number") books.visits.restore(id, visit);
    else books.visits.restore(id, { ...visit, expiresAt: Math.max(visit.expiresAt, renewedUntil) });
  }
}
