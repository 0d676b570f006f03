/**
 * Connections that sent something other than HTTP, or took too long over a header. Each gets an error answer and is closed.
 *
 * Answering and closing takes some 50 µs of system calls. Thousands of connections that send garbage at once would delay
 * everybody else by a second. So only a few are answered in each turn of the event loop.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Timers } from "../../core/world.ts";
import { FairTurns } from "../../sockets/fair-turns.ts";
import { answerUnderWay } from "../../sockets/idle-connections.ts";
import type { AccessLog } from "../access-log/access-log.ts";
import { PLAIN_TYPE } from "../answer-headers.ts";
import { LINGER_MAX_MS } from "../proxy/answer.ts";
import { answerRaw, closeSoon } from "../proxy/raw-answer.ts";

/** Answered in one turn of the event loop: one or two milliseconds. */
const ANSWERED_PER_TURN = 32;

const KNOWN: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "header too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "chunk extensions too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "header took too long"],
};
const MALFORMED = [400, "malformed request"] as const;

export class ClientErrors {
  readonly #timers: Timers;
  readonly #accessLog: AccessLog | undefined;
  readonly #turns = new FairTurns(ANSWERED_PER_TURN);
  /** Still to be answered. */
  readonly #waiting = new WeakSet<Duplex>();

  constructor(timers: Timers, accessLog?: AccessLog) {
    this.#timers = timers;
    this.#accessLog = accessLog;
  }

  /** Answers the client, now or in one of the next turns, and closes. May be called again for later bytes. */
  take(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (this.#waiting.has(socket)) return;
    this.#waiting.add(socket);
    this.#turns.take(socket, () => {
      this.#waiting.delete(socket);
      this.#answer(error, socket);
    });
  }

  #answer(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (socket.destroyed) return;
    const code = error.code ?? "";
    const known = KNOWN[code] ?? (code.startsWith("HPE_") ? MALFORMED : null);
    // An error answer must not be written into an answer under way.
    const current = answerUnderWay(socket);
    if (known === null) socket.destroy();
    else if (current?.headersSent) closeSoon(socket as Socket);
    if (known === null || current?.headersSent || !socket.writable) return;
    const [status, reason] = known;
    const linger = current === null ? { linger: { maxMs: LINGER_MAX_MS, timers: this.#timers } } : {};
    const body = Buffer.from(`${reason}\n`);
    this.#accessLog?.malformed(socket, status, body.length);
    answerRaw(socket, { status, headers: PLAIN_TYPE, body, ...linger });
  }
}
