/**
 * The network between one gateway and its Redis, which a test can cut: a TCP proxy that forwards, drops, or closes every
 * connection. Data held back while it dropped is delivered once it is restored, as a real network may do.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

type State = "passing" | "silent" | "closed";

export class Wire {
  readonly #server: Server;
  #to: number;
  /** Both ends of each connection. */
  readonly #pairs = new Map<Socket, Socket>();
  #state: State = "passing";

  /** A wire to a port of this machine. */
  static async to(port: number): Promise<Wire> {
    const wire = new Wire(port);
    wire.#server.listen(0, "127.0.0.1");
    await once(wire.#server, "listening");
    return wire;
  }

  private constructor(port: number) {
    this.#to = port;
    this.#server = createServer((near) => this.#join(near));
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Every connection ends, and new ones go to another port. */
  lead(port: number): void {
    this.#to = port;
    for (const socket of this.#sockets()) socket.destroy();
  }

  /** Nothing comes through any more, without an error: connections stay open, and new ones are accepted. */
  fallSilent(): void {
    this.#state = "silent";
    for (const socket of this.#sockets()) socket.pause();
  }

  /** Every connection ends, and so does each new one at once. */
  closeAll(): void {
    this.#state = "closed";
    for (const socket of this.#sockets()) socket.destroy();
  }

  /** Restores the network. Data that was held back comes through. */
  mend(): void {
    this.#state = "passing";
    for (const socket of this.#sockets()) socket.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closeAll();
    this.#server.close();
    await once(this.#server, "close");
  }

  *#sockets(): Iterable<Socket> {
    for (const pair of this.#pairs) yield* pair;
  }

  #join(near: Socket): void {
    if (this.#state === "closed") {
      near.destroy();
      return;
    }
    const far = connect(this.#to, "127.0.0.1");
    this.#pairs.set(near, far);
    this.#pass(near, far);
    this.#pass(far, near);
    if (this.#state === "silent") for (const socket of [near, far]) socket.pause();
  }

  #pass(from: Socket, to: Socket): void {
    from.on("data", (piece) => to.write(piece));
    from.on("end", () => to.end());
    // When one end closes, so does the other; the talking ends see the reason.
    from.on("error", () => {});
    from.on("close", () => {
      to.destroySoon();
      this.#pairs.delete(from);
      this.#pairs.delete(to);
    });
  }
}
