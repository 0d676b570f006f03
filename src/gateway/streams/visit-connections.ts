/**
 * Connections of visitors with a pass: upgraded ones (WebSockets), and requests that last, such as event streams, downloads and
 * uploads. Each belongs to a visit and ends with it; otherwise someone whose slot has long been given to the next would go on
 * using the site.
 *
 *   traffic, either way ──▶ the visit is renewed, as by a request
 *   the visit runs out, unless it is renewed elsewhere ──▶ closed with it
 *   left, or revoked ──▶ closed after `connectionGrace`; an answer that is on its way has a moment at least
 *
 * For as long, and a moment more, the engine holds the slot (`lingerMs`), so nobody takes it while they are open. It is told when
 * nothing of an ended visit is open here; the embedded engine, which has this gateway alone, then frees the slot. A visit that
 * runs out while connections have a grace is left for that.
 *
 * Nothing is done for each message or byte, and next to nothing for a request that is soon over. Once a second the connections
 * are looked at, all in one go.
 */
import type { Engine } from "../../core/engine.ts";
import {
  isFirstPass,
  isRenewalDue,
  LAST_ANSWER_MS,
  type Pass,
  PRESENCE_GRACE_MS,
  renewPass,
} from "../../core/pass.ts";
import type { World } from "../../core/world.ts";
import { type AskEngine, ENGINE_AWAY } from "../ask-engine.ts";
import { firstVisitMs } from "../newcomers.ts";
import type { PresenceReport } from "../presence.ts";
import type { RoomFront } from "../room-front.ts";
import type { OpenAnswer } from "./open-answer.ts";
import { type Listed, OpenList } from "./open-list.ts";

const LOOK_EVERY_MS = 1_000;

/** One of a visitor's connections. */
export class VisitConnection implements Listed {
  readonly front: RoomFront;
  readonly pass: Pass;
  /** Bytes passed on, where its socket does not count them. */
  moved = 0;
  isClosed = false;
  /** Told to end, and not closed yet. */
  isEnding = false;
  /** Among the fresh ones; not once it is with its visit. */
  listedAt = -1;
  readonly #answer: OpenAnswer;
  /** Below 0 before the first look: a socket's counts are slow to ask for, and most requests are over by then. */
  #bytesSeen = -1;

  constructor(answer: OpenAnswer, front: RoomFront, pass: Pass) {
    this.#answer = answer;
    this.front = front;
    this.pass = pass;
  }

  get isUpgraded(): boolean {
    return this.#answer.isUpgraded;
  }

  /** True when something has passed on it, either way, since this was last asked; and the first time. */
  hasMoved(): boolean {
    const bytes = this.#answer.bytes() ?? this.moved;
    const hasMoved = bytes !== this.#bytesSeen;
    this.#bytesSeen = bytes;
    return hasMoved;
  }

  end(): void {
    this.isEnding = true;
    this.#answer.end();
  }
}

interface Visit {
  readonly connections: Set<VisitConnection>;
  front: RoomFront;
  /** With the latest expiry that this gateway knows of. */
  pass: Pass;
  /** When it was left or revoked; null while it was not. */
  endedAt: number | null;
  /** Nobody has come back with its pass: what passes on its first connection shows no cookie. */
  isFirst: boolean;
  /** The engine is being asked whether it is over. */
  isAsked: boolean;
}

export interface VisitConnectionsParts {
  readonly engine: Engine;
  readonly ask: AskEngine;
  readonly presence: PresenceReport;
  readonly world: World;
  /** The room as it is now; undefined when it is no more. */
  readonly frontOf: (room: string) => RoomFront | undefined;
  /** The visit was left or revoked before. */
  readonly isEnded: (id: string) => boolean;
  /** A connection was closed because its visit is over. */
  readonly onEnd: () => void;
}

export class VisitConnections {
  readonly #parts: VisitConnectionsParts;
  readonly #visits = new Map<string, Visit>();
  /** Opened since the last look. Most are closed again by the next. */
  readonly #fresh = new OpenList<VisitConnection>();
  readonly #stop: () => void;

  constructor(parts: VisitConnectionsParts) {
    this.#parts = parts;
    this.#stop = parts.world.timers.every(LOOK_EVERY_MS, () => this.#look());
  }

  /** A connection that is under way. The caller says when it is `closed`. */
  open(answer: OpenAnswer, front: RoomFront, pass: Pass): VisitConnection {
    const connection = new VisitConnection(answer, front, pass);
    this.#fresh.add(connection);
    return connection;
  }

  closed(connection: VisitConnection): void {
    connection.isClosed = true;
    this.#fresh.remove(connection);
  }

  /** A visitor's pass was renewed by a request. */
  renewed(pass: Pass): void {
    const visit = this.#visits.get(pass.id);
    if (!visit) return;
    visit.isFirst = false;
    if (visit.pass.expiresAt < pass.expiresAt) visit.pass = pass;
  }

  /** True when a visit has nothing open here. */
  isIdle(id: string): boolean {
    this.#takeFresh();
    const visit = this.#visits.get(id);
    return !visit || !isOpen(visit);
  }

  /** A visit was left or revoked. */
  ended(room: string, id: string): void {
    this.#takeFresh();
    const visit = this.#visits.get(id);
    if (!visit || !isOpen(visit)) {
      this.#visits.delete(id);
      return this.#parts.engine.vacated(room, id);
    }
    if (visit.endedAt !== null) return;
    const { clock, timers } = this.#parts.world;
    const { connectionGrace } = visit.front.settings;
    visit.endedAt = clock.now();
    this.#endDue(visit, visit.endedAt);
    // On time, and not at the next look: the engine holds the slot for that long, and a moment more.
    for (const ms of new Set([connectionGrace, Math.max(connectionGrace, LAST_ANSWER_MS)]))
      timers.after(ms, () => this.#endDue(visit, clock.now()));
  }

  close(): void {
    this.#stop();
  }

  #look(): void {
    this.#takeFresh();
    const now = this.#parts.world.clock.now();
    for (const [id, visit] of this.#visits) {
      for (const connection of visit.connections)
        if (connection.isClosed) visit.connections.delete(connection);
      if (visit.connections.size === 0) {
        this.#visits.delete(id);
        if (visit.endedAt !== null) this.#parts.engine.vacated(visit.front.name, id);
        continue;
      }
      visit.front = this.#parts.frontOf(visit.front.name) ?? visit.front;
      if (hasMoved(visit)) this.#renew(visit, now);
      this.#endDue(visit, now);
    }
  }

  #takeFresh(): void {
    for (const connection of this.#fresh.takeAll()) {
      const { pass, front } = connection;
      const visit = this.#visits.get(pass.id) ?? this.#newVisit(front, pass);
      visit.connections.add(connection);
      this.#visits.set(pass.id, visit);
      if (!isFirstPass(pass, front.rules.sessionDurationMs)) this.renewed(pass);
    }
  }

  /**
   * It may have ended while the engine was asked whether this connection may be opened. Nothing was open then, so its slot may
   * be the next one's: there is no grace.
   */
  #newVisit(front: RoomFront, pass: Pass): Visit {
    const endedAt = this.#parts.isEnded(pass.id) ? Number.NEGATIVE_INFINITY : null;
    const isFirst = isFirstPass(pass, front.rules.sessionDurationMs);
    return { connections: new Set(), front, pass, endedAt, isFirst, isAsked: false };
  }

  #renew(visit: Visit, now: number): void {
    const { disableSessionRenewal, sessionDurationMs } = visit.front.rules;
    const renewal = { now, sessionDurationMs, disableSessionRenewal };
    // What was sent in time may be seen only now; the slot is held for that long.
    const isOver = visit.endedAt !== null || now >= visit.pass.expiresAt + PRESENCE_GRACE_MS;
    if (isOver || !(visit.isFirst || isRenewalDue(visit.pass, renewal))) return;
    this.#lengthen(visit, visit.isFirst ? longerFirst(visit, now) : renewPass(visit.pass, renewal), now);
    if (visit.isFirst) visit.front.firstVisits.prolong(visit.pass.id, visit.pass.expiresAt);
  }

  #lengthen(visit: Visit, pass: Pass, now: number): void {
    if (pass.expiresAt <= visit.pass.expiresAt) return;
    const leftMs = visit.pass.expiresAt - now;
    visit.pass = pass;
    this.#parts.presence.report(pass, leftMs);
  }

  /** Closes what is over. */
  #endDue(visit: Visit, now: number): void {
    if (visit.endedAt === null) {
      if (now >= visit.pass.expiresAt) this.#endIfOver(visit, now);
      return;
    }
    const graceMs = visit.front.settings.connectionGrace;
    const sinceMs = now - visit.endedAt;
    for (const connection of visit.connections) {
      const leastMs = connection.isUpgraded ? 0 : LAST_ANSWER_MS;
      if (sinceMs >= Math.max(graceMs, leastMs)) this.#end(connection);
    }
  }

  /** Its pass has run out as far as is known here. Another gateway may have renewed it, which the engine knows. */
  #endIfOver(visit: Visit, now: number): void {
    if (visit.isAsked) return;
    const { ask, engine } = this.#parts;
    visit.isAsked = true;
    ask.hear(
      () => engine.resume(visit.pass, false),
      (entered) => {
        visit.isAsked = false;
        // An engine that is away ends no visit.
        if (entered === ENGINE_AWAY) return;
        if (entered !== null && entered.pass.expiresAt > now) visit.pass = entered.pass;
        else this.#runOut(visit);
      },
    );
  }

  /**
   * Without a grace its connections end with it, and a form may still begin it again. With one it is left in its holder's name,
   * so that its slot is held; the pass is good for nothing meanwhile, or the grace would be a way to stay.
   */
  #runOut(visit: Visit): void {
    if (visit.front.settings.connectionGrace === 0) {
      for (const connection of visit.connections) this.#end(connection);
      return;
    }
    const { ask, engine } = this.#parts;
    void ask.ask(() => engine.leave(visit.pass));
    this.ended(visit.front.name, visit.pass.id);
  }

  #end(connection: VisitConnection): void {
    if (connection.isClosed || connection.isEnding) return;
    this.#parts.onEnd();
    connection.end();
  }
}

/**
 * What passes on the first connection of someone who has not come back yet does not show that they keep a cookie, so their visit
 * goes on for as long as at first, and not for a session; where visits are not renewed it ends with that.
 */
function longerFirst({ front, pass }: Visit, now: number): Pass {
  const { disableSessionRenewal, sessionDurationMs } = front.rules;
  const endsAt = disableSessionRenewal ? pass.admittedAt + sessionDurationMs : Number.POSITIVE_INFINITY;
  return { ...pass, expiresAt: Math.min(now + firstVisitMs(front), endsAt) };
}

function isOpen({ connections }: Visit): boolean {
  for (const { isClosed } of connections) if (!isClosed) return true;
  return false;
}

/** True when something has passed on any of its connections since the last look. */
function hasMoved({ connections }: Visit): boolean {
  let hasAnyMoved = false;
  for (const connection of connections) hasAnyMoved = connection.hasMoved() || hasAnyMoved;
  return hasAnyMoved;
}
