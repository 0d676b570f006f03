/** What is logged of connections. Outsiders can cause any of it at any rate, so each kind is at most one line a second. */
import { LogPace } from "../core/log-pace.ts";
import type { Log } from "../core/world.ts";

const KINDS = {
  full: ["warn", "CONNECTIONS_FULL", "new connections refused: all are taken and none is idle"],
  addressFull: ["warn", "ADDRESS_FULL", "new connections refused: their address has as many as it may"],
  wrongHeader: ["warn", "PROXY_HEADER", "connections of a trusted proxy refused for their PROXY header"],
  closedIdle: ["info", "IDLE_CLOSED", "idle connections closed to make room for new ones"],
  ranOut: ["error", "OUT_OF_FILES", "no more file handles; raise the limit on open files"],
  failed: ["error", "ACCEPT_FAILED", "new connections could not be accepted"],
} as const;

type Kind = keyof typeof KINDS;

export class ConnectionLog {
  readonly #whose: string;
  readonly #log: Log;
  /** With what is known of the last of each kind. */
  readonly #seen = new Map<Kind, { readonly pace: LogPace; about: object }>();

  constructor(whose: string, log: Log) {
    this.#whose = whose;
    this.#log = log;
  }

  /** Counts one of a kind, and logs it unless one was logged a moment ago. */
  add(kind: Kind, now: number, about: object = {}): void {
    const seen = this.#seen.get(kind) ?? { pace: new LogPace(), about };
    seen.about = about;
    this.#seen.set(kind, seen);
    this.#tell(kind, seen.about, seen.pace.add(now));
  }

  /** Logs what was counted and not logged yet. */
  look(now: number): void {
    for (const [kind, { pace, about }] of this.#seen) this.#tell(kind, about, pace.due(now));
  }

  #tell(kind: Kind, about: object, count: number): void {
    const [level, code, message] = KINDS[kind];
    if (count > 0) this.#log[level]({ code, whose: this.#whose, count, ...about }, message);
  }
}
