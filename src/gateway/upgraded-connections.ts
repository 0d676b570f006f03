/**
 * Upgraded connections (WebSockets) of visitors with a pass. Each belongs to a visit and ends with it: when the visit has
 * run out, was left or was revoked, its connections have `connectionGrace` to finish and are then closed. Otherwise
 * someone whose place has long been given to the next would go on using the site.
 *
 * What a visitor sends on a connection renews the visit, as a request does, so a visit lives while its connection is
 * used. A visitor who only listens does not renew it. The cookie cannot be renewed on the way: whoever is to go on
 * browsing after hours of nothing but a WebSocket joins anew.
 *
 * Nothing is done for each message. Once a second the connections are looked at, all in one go.
 */
import type { Duplex } from "node:stream";
import { isRenewalDue, type Pass, PRESENCE_GRACE_MS, renewPass } from "../core/pass.ts";
import type { World } from "../core/world.ts";
import type { PresenceReport } from "./presence.ts";
import type { RoomFront } from "./room-front.ts";

const LOOK_EVERY_MS = 1_000;

/** A connection, and how much had come from the visitor when it was last looked at. */
interface Connection {
  readonly socket: Duplex & { readonly bytesRead?: number };
  bytesRead: number;
}

interface Visit {
  readonly front: RoomFront;
  readonly connections: Set<Connection>;
  /** With the latest expiry that this gateway knows of. */
  pass: Pass;
  /** When it was left or revoked; null while it was not. */
  endedAt: number | null;
}

export class UpgradedConnections {
  readonly #visits = new Map<string, Visit>();
  readonly #presence: PresenceReport;
  readonly #world: World;
  /** The room as it is now; undefined when it is no more. */
  readonly #frontOf: (room: string) => RoomFront | undefined;
  readonly #onEnd: () => void;
  readonly #stop: () => void;

  constructor(parts: {
    presence: PresenceReport;
    world: World;
    frontOf: (room: string) => RoomFront | undefined;
    /** A connection was closed because its visit is over. */
    onEnd: () => void;
  }) {
    this.#presence = parts.presence;
    this.#world = parts.world;
    this.#frontOf = parts.frontOf;
    this.#onEnd = parts.onEnd;
    this.#stop = parts.world.timers.every(LOOK_EVERY_MS, () => this.#look());
  }

  add(socket: Duplex & { readonly bytesRead?: number }, front: RoomFront, pass: Pass): void {
    const visit = this.#visits.get(pass.id) ?? { front, connections: new Set(), pass, endedAt: null };
    const connection: Connection = { socket, bytesRead: socket.bytesRead ?? 0 };
    visit.connections.add(connection);
    this.#visits.set(pass.id, visit);
    this.renewed(pass);
    socket.once("close", () => {
      visit.connections.delete(connection);
      if (visit.connections.size === 0) this.#visits.delete(pass.id);
    });
  }

  /** A visitor's pass was renewed by a request. */
  renewed(pass: Pass): void {
    const visit = this.#visits.get(pass.id);
    if (visit && visit.pass.expiresAt < pass.expiresAt) visit.pass = pass;
  }

  /** A visit was left or revoked. */
  ended(id: string): void {
    const visit = this.#visits.get(id);
    if (visit) visit.endedAt ??= this.#world.clock.now();
  }

  close(): void {
    this.#stop();
  }

  #look(): void {
    const now = this.#world.clock.now();
    for (const visit of this.#visits.values()) {
      if (hasMoved(visit)) this.#renew(visit, now);
      const graceMs = this.#nowOf(visit).settings.connectionGrace;
      if (now < (visit.endedAt ?? visit.pass.expiresAt) + graceMs) continue;
      for (const { socket } of visit.connections) {
        this.#onEnd();
        socket.destroy();
      }
    }
  }

  #renew(visit: Visit, now: number): void {
    const { disableSessionRenewal, sessionDurationMs } = this.#nowOf(visit).rules;
    const renewal = { now, sessionDurationMs };
    // What was sent in time may be seen only now; the slot is held for that long.
    const isOver = visit.endedAt !== null || now >= visit.pass.expiresAt + PRESENCE_GRACE_MS;
    if (isOver || disableSessionRenewal || !isRenewalDue(visit.pass, renewal)) return;
    const leftMs = visit.pass.expiresAt - now;
    visit.pass = renewPass(visit.pass, renewal);
    this.#presence.report(visit.pass, leftMs);
  }

  #nowOf({ front }: Visit): RoomFront {
    return this.#frontOf(front.name) ?? front;
  }
}

/** True when the visitor has sent something since the last look, on any of their connections. */
function hasMoved({ connections }: Visit): boolean {
  let isMoved = false;
  for (const connection of connections) {
    const bytesRead = connection.socket.bytesRead ?? 0;
    isMoved ||= bytesRead !== connection.bytesRead;
    connection.bytesRead = bytesRead;
  }
  return isMoved;
}
