/**
 * A way to a Redis that can go bad. Connections can die without a word, as when a firewall forgets them: both ends stay
 * open, nothing comes through any more, and new connections work. Or everything can take its time.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface BadLine extends AsyncDisposable {
  readonly port: number;
  /** How many connections were made. */
  readonly connections: number;
  /** From now on nothing passes over the connections that are open. */
  cut(): void;
  /** From now on answers take so much longer. */
  delay(ms: number): void;
}

/** Opens a way to a port of this machine. */
export async function openBadLine(target: number): Promise<BadLine> {
  const pairs: { readonly near: Socket; readonly far: Socket; isCut: boolean }[] = [];
  let delayMs = 0;
  const server = createServer((near) => {
    const pair = { near, far: connect(target, "127.0.0.1"), isCut: false };
    pairs.push(pair);
    const { far } = pair;
    near.on("data", (data) => pair.isCut || far.write(data));
    far.on("data", (data) => {
      if (!pair.isCut) setTimeout(() => near.write(data), delayMs);
    });
    near.on("close", () => far.destroy()).on("error", () => {});
    far.on("close", () => near.destroy()).on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return pairs.length;
    },
    cut() {
      for (const pair of pairs) pair.isCut = true;
    },
    delay(ms) {
      delayMs = ms;
    },
    async [Symbol.asyncDispose]() {
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
      server.close();
    },
  };
}
