/**
 * Closes connections that were silent for too long. Node would do it with a timer that is set and cleared with every request;
 * checking each connection a few times within its idle time costs nothing per request.
 *
 * A connection is idle while no answer is under way on it and its byte counts stand still. One before its first answer is not
 * handled here: the limit on slow headers applies to it.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { World } from "../core/world.ts";

const LOOK_EVERY_MS = 100;
/** How often each connection is checked within its idle time; it is closed a check or two late. */
const LOOKS_PER_LIFE = 8;

interface Seen {
  bytes: number;
  since: number;
}

export class IdleConnections {
  readonly #seen = new Map<Socket, Seen>();
  readonly #world: World;
  readonly #stop: () => void;
  #next: MapIterator<[Socket, Seen]>;
  maxIdleMs: number;

  constructor(maxIdleMs: number, world: World) {
    this.maxIdleMs = maxIdleMs;
    this.#world = world;
    this.#next = this.#seen.entries();
    this.#stop = world.timers.every(LOOK_EVERY_MS, () => this.#look());
  }

  watch(socket: Socket): void {
    this.#seen.set(socket, { bytes: 0, since: 0 });
    socket.on("close", () => this.#seen.delete(socket));
  }

  /** For a connection that no longer carries requests. */
  release(socket: unknown): void {
    this.#seen.delete(socket as Socket);
  }

  close(): void {
    this.#stop();
  }

  /** Checks as many as needed to check all of them in time, continuing where it left off. */
  #look(): void {
    const share = Math.min(1, (LOOK_EVERY_MS * LOOKS_PER_LIFE) / this.maxIdleMs);
    const now = this.#world.clock.now();
    for (let left = Math.ceil(this.#seen.size * share); left > 0; left--) {
      const { done, value } = this.#next.next();
      if (done) {
        this.#next = this.#seen.entries();
        return;
      }
      this.#judge(value[0], value[1], now);
    }
  }

  #judge(socket: Socket, seen: Seen, now: number): void {
    const bytes = socket.bytesRead + socket.bytesWritten;
    const isAnswered = socket.bytesWritten > 0 && !answerUnderWay(socket);
    if (!isAnswered || bytes !== seen.bytes) {
      seen.bytes = bytes;
      seen.since = now;
    } else if (now - seen.since >= this.maxIdleMs) socket.destroy();
  }
}

/** Node's own mark of the answer under way on a connection. */
export function answerUnderWay(socket: object): ServerResponse | null {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}
