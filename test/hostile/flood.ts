/** Opens thousands of connections and keeps them open, for attacks that only take file handles. */
import net, { type Socket } from "node:net";

export interface FloodOptions {
  readonly host: string;
  readonly port: number;
  /** The address of the n-th connection. */
  from(n: number): string;
  /** What the n-th connection sends once it is open; nothing when empty. */
  send?(n: number): string;
  /** True: it reads nothing. */
  readonly isDeaf?: boolean;
}

/** Connections opened at once while more are wanted; more would only wait in the kernel. */
const OPENING_MAX = 256;
const LOOK_EVERY_MS = 50;
const STILL_LOOKS = 10;

/** At most this much of what comes back on a connection is kept. */
const HEARD_MAX = 100;

export class Flood {
  /** Connected at some time; and since then closed or refused by the other side. */
  opened = 0;
  closed = 0;
  readonly #options: FloodOptions;
  readonly #sockets = new Set<Socket>();
  readonly #heard = new Map<Socket, string>();
  #begun = 0;

  constructor(options: FloodOptions) {
    this.#options = options;
  }

  /** Opens `count` more. Resolves when each has been connected or refused. */
  async open(count: number): Promise<void> {
    let next = 0;
    const work = async () => {
      while (next < count) {
        next++;
        await this.#openOne(this.#begun++);
      }
    };
    await Promise.all(Array.from({ length: Math.min(count, OPENING_MAX) }, work));
  }

  /** Sends a few more bytes over every open connection. */
  dribble(text: string): void {
    for (const socket of this.#sockets) socket.write(text);
  }

  /** What came back on each connection, once it contains this text or has ended. Only the start is kept. */
  async heard(wanted: string): Promise<string[]> {
    const isDone = () =>
      [...this.#heard].every(([socket, text]) => text.includes(wanted) || socket.destroyed);
    while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 5));
    return [...this.#heard.values()];
  }

  /** Resolves when nothing has happened on any connection for a while: the attack is in place. */
  async settle(): Promise<void> {
    let last = -1;
    for (let still = 0; still < STILL_LOOKS; ) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      const moved = this.#moved();
      still = moved === last ? still + 1 : 0;
      last = moved;
    }
  }

  get size(): number {
    return this.#sockets.size;
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #moved(): number {
    let bytes = this.closed;
    for (const socket of this.#sockets)
      bytes += socket.bytesRead + socket.bytesWritten - socket.writableLength;
    return bytes;
  }

  #openOne(n: number): Promise<void> {
    const { host, port, from, send, isDeaf = false } = this.#options;
    return new Promise((resolve) => {
      const socket = net.connect({ host, port, localAddress: from(n) });
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        this.closed++;
        resolve();
      });
      socket.on("connect", () => {
        this.opened++;
        this.#sockets.add(socket);
        this.#heard.set(socket, "");
        if (!isDeaf)
          socket.on("data", (chunk) => {
            const before = this.#heard.get(socket)!;
            if (before.length < HEARD_MAX) this.#heard.set(socket, before + chunk.toString("latin1"));
          });
        const text = send?.(n) ?? "";
        if (text !== "") socket.write(text);
        resolve();
      });
    });
  }
}
