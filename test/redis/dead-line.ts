/**
 * A way to a Redis on which connections can die without a word, as when a firewall forgets them: both ends stay open,
 * nothing comes through any more, and new connections work.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface DeadLine extends AsyncDisposable {
  readonly port: number;
  /** How many connections were made. */
  readonly connections: number;
  /** From now on nothing passes over the connections that are open. */
  cut(): void;
}

/** Opens a way to a port of this machine. */
export async function openDeadLine(target: number): Promise<DeadLine> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let connections = 0;
  const server = createServer((near) => {
    connections++;
    const far = connect(target, "127.0.0.1");
    pairs.add([near, far]);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    cut() {
      for (const sockets of pairs) for (const socket of sockets) socket.unpipe().resume();
    },
    async [Symbol.asyncDispose]() {
      for (const sockets of pairs) for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
