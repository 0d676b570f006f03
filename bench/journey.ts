/**
 * Whole journeys over real HTTP: join, board, check-in, enter, first page, leave. The gateway has one core, the
 * visitors and the origin the other. There are many more visitors than slots, so everyone waits in line.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Board } from "../src/core/board.ts";
import type { Counts } from "../src/core/engine.ts";
import { type Bench, row } from "./bench.ts";
import { startChild } from "./child.ts";
import { Client } from "./client.ts";

const CAPACITY = 10_000;
const VISITORS_AT_ONCE = 20_000;
const CONNECTIONS = 64;
const BOARD_MS = 100;
const PAGE = Buffer.from("<!doctype html><title>Welcome</title><p>You are in.");

export const journeyBench: Bench = {
  name: "journey",
  about: `join, board, check-in, enter, first page and leave, over HTTP; ${VISITORS_AT_ONCE.toLocaleString("en")} visitors at a time for ${CAPACITY.toLocaleString("en")} slots`,
  async run({ isQuick, progress }) {
    const origin = createServer((_request, response) => {
      response.writeHead(200, ["Content-Length", String(PAGE.length)]);
      response.end(PAGE);
    });
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
    const gateway = await startChild<{ port: number }>("journey-server", [address, String(CAPACITY)]);
    const client = await Client.open(gateway.ready.port, CONNECTIONS);
    await gateway.ask("open");
    const total = isQuick ? 30_000 : 100_000;
    let started = 0;
    let requests = 0;
    const turns = new Turns(client);
    const from = performance.now();
    const worker = async () => {
      while (started++ < total) {
        const took = await journey(client, turns);
        requests += took;
        if (started % 1_000 === 0) progress(`${started} of ${total}`);
      }
    };
    await Promise.all(Array.from({ length: VISITORS_AT_ONCE }, worker));
    const seconds = (performance.now() - from) / 1_000;
    const counts = await gateway.ask<Counts>("counts");
    turns.close();
    client.close();
    await gateway.stop();
    origin.closeAllConnections();
    origin.close();
    if (counts.totals.entered < total) throw new Error(`only ${counts.totals.entered} of ${total} entered`);
    return [
      row({ name: "whole journeys", unit: "visitors/s", value: total / seconds }),
      row({ name: "requests in a journey", unit: "requests", value: requests / total }),
      row({ name: "all requests", unit: "requests/s", value: requests / seconds }),
      row({
        name: "unfairness (Kendall tau)",
        unit: "",
        value: counts.unfairness,
        goal: { of: "value", atMost: 0 },
      }),
    ];
  },
};

/**
 * Turns, as every page reads them from the board: one reader for all visitors here, since a stream for each is measured by
 * another bench.
 */
class Turns {
  readonly #waiting = new Map<number, () => void>();
  #admitted = 0;
  #isOpen = true;

  constructor(client: Client) {
    void this.#read(client);
  }

  come(sequence: number): Promise<void> {
    if (sequence <= this.#admitted) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(sequence, resolve));
  }

  close(): void {
    this.#isOpen = false;
  }

  async #read(client: Client): Promise<void> {
    while (this.#isOpen) {
      const { body } = await client.ask("GET", "/.fairgate/main/board", null);
      this.#admitted = (JSON.parse(body) as Board).admitted;
      for (const [sequence, resolve] of this.#waiting) {
        if (sequence > this.#admitted) break;
        this.#waiting.delete(sequence);
        resolve();
      }
      await new Promise((resolve) => setTimeout(resolve, BOARD_MS));
    }
  }
}

/** One visitor from joining to leaving. Returns the number of requests it took. */
async function journey(client: Client, turns: Turns): Promise<number> {
  const joined = await client.ask("POST", "/.fairgate/main/join", null);
  await client.ask("GET", "/.fairgate/main/board", null);
  const checked = await client.ask("POST", "/.fairgate/main/check-in", joined.cookie);
  const { status, sequence } = JSON.parse(checked.body) as { status: string; sequence?: number };
  let requests = 6;
  let cookie = joined.cookie;
  if (status !== "entered") {
    if (sequence !== undefined) await turns.come(sequence);
    const entered = await client.ask("POST", "/.fairgate/main/enter", cookie);
    if (!entered.body.includes("entered"))
      throw new Error(`at their turn a visitor was told ${entered.body}`);
    cookie = entered.cookie;
    requests++;
  }
  const page = await client.ask("GET", "/", cookie);
  if (page.status !== 200 || !page.body.includes("You are in")) throw new Error(`no page but ${page.status}`);
  await client.ask("POST", "/.fairgate/main/leave", cookie);
  return requests - 1;
}
