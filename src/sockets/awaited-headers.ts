/**
 * Connections whose PROXY header is not complete yet. Nothing else reads from them until it is. Then the header is removed, and
 * the bytes behind it are put back for the server.
 *
 * A connection that sends nothing, or its header too slowly, is closed like one that takes too long over a request header.
 * That is no error: browsers connect in advance, and some load balancers send the header with the visitor's first bytes.
 */
import type { Socket } from "node:net";
import type { Clock } from "../core/world.ts";
import { FairTurns } from "./fair-turns.ts";
import {
  type ConnectionSource,
  type ProxyHeader,
  readProxyHeader,
  type WrongHeader,
} from "./proxy-header.ts";

export interface HeaderSettings {
  /** True: trusted proxies send a PROXY header. */
  readonly isOn: boolean;
  /** How long the header may take. */
  readonly timeoutMs: number;
}

/**
 * How many are closed in one turn of the event loop, which takes a millisecond or two: connections that came together time out
 * together.
 */
const CLOSED_PER_TURN = 64;

type Said = ProxyHeader | WrongHeader;

export class AwaitedHeaders {
  settings: HeaderSettings;
  readonly #clock: Clock;
  /** The longest awaited first, with the time since when. */
  readonly #sinceAt = new Map<Socket, number>();
  readonly #turns = new FairTurns(CLOSED_PER_TURN);

  constructor(settings: HeaderSettings, clock: Clock) {
    this.settings = settings;
    this.#clock = clock;
  }

  /** Takes the header off a new connection and calls `tell` with it, unless the connection ends first. */
  read(socket: Socket, tell: (said: Said) => void): void {
    let held: Buffer = Buffer.alloc(0);
    const onReadable = () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const said = readProxyHeader(held);
      if (said === null) return;
      socket.off("readable", onReadable).off("end", onEnd).off("close", onClose);
      onClose();
      if ("length" in said) socket.unshift(held.subarray(said.length));
      tell(said);
    };
    // The other side may close its half alone; without a header there is nothing to wait for.
    const onEnd = () => socket.destroy();
    const onClose = () => this.#sinceAt.delete(socket);
    this.#sinceAt.set(socket, this.#clock.now());
    socket.on("readable", onReadable).on("end", onEnd).on("close", onClose);
  }

  /** To be called about once a second: closes connections whose header took too long. */
  look(): void {
    const now = this.#clock.now();
    for (const [socket, sinceAt] of this.#sinceAt) {
      if (now - sinceAt < this.settings.timeoutMs) return;
      this.#turns.take(socket, () => {
        // Unless its header came before its turn.
        if (this.#sinceAt.has(socket)) socket.destroy();
      });
    }
  }

  /** Closes all that wait: nobody has asked for anything on them yet. */
  close(): void {
    for (const socket of this.#sinceAt.keys()) socket.destroy();
  }
}

/** Makes the socket report this source as its remote address. */
export function comesFrom(socket: Socket, { address, family, port }: ConnectionSource): void {
  Object.defineProperties(socket, {
    remoteAddress: { value: address },
    remoteFamily: { value: family },
    remotePort: { value: port },
  });
}
