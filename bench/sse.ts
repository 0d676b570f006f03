/**
 * Ten thousand visitors with the waiting page open: what each costs the gateway in memory, and how long it takes from
 * a new board until the last of them has it.
 */
import { connect, type Socket } from "node:net";
import { type Bench, row } from "./bench.ts";
import { startChild } from "./child.ts";
import { Client } from "./client.ts";

const BATCH = 200;

export const sseBench: Bench = {
  name: "sse",
  about: "idle event streams on one gateway process",
  async run({ isQuick, progress }) {
    const streams = isQuick ? 2_000 : 10_000;
    const pushes = isQuick ? 5 : 10;
    const gateway = await startChild<{ port: number }>("sse-server", [], ["--expose-gc"]);
    const { port } = gateway.ready;
    const client = await Client.open(port, 16);
    const cookies: string[] = [];
    while (cookies.length < streams)
      cookies.push((await client.ask("POST", "/.fairgate/main/join", null)).cookie!);
    client.close();
    const before = await gateway.ask<number>("memory");
    const audience = new Audience();
    for (let i = 0; i < streams; i += BATCH) {
      progress(`${i} of ${streams} streams`);
      await Promise.all(cookies.slice(i, i + BATCH).map((cookie) => audience.open(port, cookie)));
    }
    await pause(500);
    const bytesEach = ((await gateway.ask<number>("memory")) - before) / streams;
    const took: number[] = [];
    for (let push = 0; push < pushes; push++) {
      const reached = audience.everyone();
      const at = await gateway.ask<number>("push");
      took.push((Number(await reached) - at) / 1e6);
      await pause(100);
    }
    audience.close();
    await gateway.stop();
    return [
      row({
        name: `memory of each of ${streams.toLocaleString("en")} streams`,
        unit: "KB",
        value: bytesEach / 1_024,
      }),
      row({ name: "a new board reaches all of them, best", unit: "ms", value: Math.min(...took) }),
      row({ name: "a new board reaches all of them, worst", unit: "ms", value: Math.max(...took) }),
    ];
  },
};

class Audience {
  readonly #sockets: Socket[] = [];
  #left = 0;
  #onAll: () => void = () => {};

  /** Opens one stream and waits for its first board. */
  open(port: number, cookie: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1" });
      this.#sockets.push(socket);
      socket.on("error", reject);
      socket.write(
        `GET /.fairgate/main/events HTTP/1.1\r\nHost: shop.example\r\nAccept: text/event-stream\r\nCookie: ${cookie}\r\n\r\n`,
      );
      let isOpen = false;
      socket.on("data", (data) => {
        if (!data.includes("event: board")) return;
        if (isOpen && --this.#left === 0) this.#onAll();
        isOpen = true;
        resolve();
      });
    });
  }

  /** Resolves, with the time, when every stream has had one more board. */
  everyone(): Promise<bigint> {
    this.#left = this.#sockets.length;
    return new Promise((resolve) => {
      this.#onAll = () => resolve(process.hrtime.bigint());
    });
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
