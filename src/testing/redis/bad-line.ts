/**
 * A TCP proxy to a Redis that can fail. Connections can die silently, as when a firewall forgets them: both ends stay open,
 * nothing comes through any more, and new connections work. Or answers can be delayed.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Timers } from "../../core/world.ts";
import { realWorld } from "../real-world.ts";

export interface BadLine extends AsyncDisposable {
  readonly port: number;
  /** How many connections were made. */
  readonly connections: number;
  /** From now on nothing passes over the connections that are open. */
  cut(): void;
  /** From now on answers take this much longer. With 0, those that are delayed arrive at once. */
  delay(ms: number): void;
  /** True while a delayed answer contains the text. */
  isDelaying(text: string): boolean;
}

interface Answer {
  readonly data: string | Buffer;
  /** Sends the delayed answer on. Does nothing the second time. */
  deliver(): void;
}

/** Opens a proxy to a port of this machine. A delay is as long as the timers say. */
export async function openBadLine(target: number, timers: Timers = realWorld().timers): Promise<BadLine> {
  const pairs: { readonly near: Socket; readonly far: Socket; isCut: boolean }[] = [];
  const delayed = new Set<Answer>();
  let delayMs = 0;

  function answerLater(data: string | Buffer, near: Socket): void {
    const answer = { data, deliver: () => void (delayed.delete(answer) && near.write(data)) };
    delayed.add(answer);
    timers.after(delayMs, answer.deliver);
  }

  const server = createServer((near) => {
    const pair = { near, far: connect(target, "127.0.0.1"), isCut: false };
    pairs.push(pair);
    const { far } = pair;
    near.on("data", (data) => pair.isCut || far.write(data));
    far.on("data", (data) => {
      if (pair.isCut) return;
      if (delayMs > 0) answerLater(data, near);
      else near.write(data);
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
      if (ms === 0) for (const answer of delayed) answer.deliver();
    },
    isDelaying: (text) => [...delayed].some(({ data }) => data.includes(text)),
    async [Symbol.asyncDispose]() {
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
      server.close();
    },
  };
}
