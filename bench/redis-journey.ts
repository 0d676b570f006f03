/**
 * What one visitor costs Redis from joining to leaving, counted by Redis itself: join, some check-ins, the turn, entering, some
 * pages, presence, leaving. Once for a crowd that comes together, and once for visitors who come one at a time, when no calls can
 * be batched. The door's own calls and the boards count, too.
 *
 * The plain queue has no step for entering, and none for leaving: access runs out.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Board } from "../src/core/board.ts";
import { type Row, row } from "./bench.ts";
import { Client } from "./client.ts";
import { callsBetween, commandCalls } from "./redis-figures.ts";
import { Side } from "./redis-side.ts";
import { CONNECTIONS } from "./redis-speed.ts";

const CROWD = 1_000;
const APART = 500;
const APART_QUICK = 50;
const CHECK_INS = 2;
const PAGES = 5;
/** Presence was reported within this time. */
const PRESENCE_MS = 1_200;
const BOARD_MS = 50;
const BOARDS_MAX = 600;

interface Step {
  readonly method: "GET" | "POST";
  readonly path: string;
}

/** The steps of a visitor; null: there is no such step. */
interface Way {
  readonly join: Step;
  readonly checkIn: Step;
  readonly enter: Step | null;
  readonly page: Step;
  readonly leave: Step | null;
}

interface Taken {
  readonly trips: number;
  readonly commands: number;
}

const page: Step = { method: "GET", path: "/event/1" };
const own = (name: string): Step => ({ method: "POST", path: `/.fairgate/main/${name}` });
const OURS: Way = {
  join: page,
  checkIn: own("check-in"),
  enter: own("enter"),
  page,
  leave: own("leave"),
};
const SEED: Way = { join: page, checkIn: page, enter: null, page, leave: null };

export async function journeyRows(isQuick: boolean, progress: (text: string) => void): Promise<Row[]> {
  progress("journeys");
  const together = await both(CROWD, CONNECTIONS);
  const apart = await both(isQuick ? APART_QUICK : APART, 1);
  const pair = (name: string, [ours, seed]: readonly [Taken, Taken], what: keyof Taken) =>
    row({ name: `a journey, ${name}`, unit: what, value: ours[what], baseline: seed[what] });
  return [
    pair(`${CROWD.toLocaleString("en")} at once`, together, "trips"),
    pair("the same", together, "commands"),
    pair("one visitor at a time", apart, "trips"),
    pair("the same", apart, "commands"),
  ];
}

/** Round trips and commands of each visitor, ours and those of the plain queue. */
async function both(visitors: number, connections: number): Promise<readonly [Taken, Taken]> {
  const origin = await startOrigin();
  const [ours, seed] = await Promise.all([
    Side.open("redis-gateway", visitors, originOf(origin)),
    Side.open("plain-queue", visitors),
  ]);
  try {
    return [
      await journeys(ours, OURS, visitors, connections),
      await journeys(seed, SEED, visitors, connections),
    ];
  } finally {
    await Promise.all([ours.stop(), seed.stop()]);
    origin.closeAllConnections();
    origin.close();
  }
}

async function journeys(side: Side, way: Way, visitors: number, connections: number): Promise<Taken> {
  const client = await Client.open(side.port, connections);
  const before = await commandCalls(side.redis.url);
  const crowd = Array.from({ length: visitors }, () => new Visitor(client));
  const all = (work: (visitor: Visitor) => Promise<void>) => Promise.all(crowd.map(work));
  await all((visitor) => visitor.go(way.join));
  for (let n = 0; n < CHECK_INS; n++) await all((visitor) => visitor.go(way.checkIn));
  await side.letIn();
  if (way === OURS) await untilNobodyWaits(client);
  await all((visitor) => visitor.go(way.enter));
  for (let n = 0; n < PAGES; n++) await all((visitor) => visitor.see(way.page));
  if (way.leave) await sleep(PRESENCE_MS);
  await all((visitor) => visitor.go(way.leave));
  const { trips, commands } = callsBetween(before, await commandCalls(side.redis.url));
  client.close();
  return { trips: trips / visitors, commands: commands / visitors };
}

class Visitor {
  readonly #client: Client;
  #cookie: string | null = null;

  constructor(client: Client) {
    this.#client = client;
  }

  async go(step: Step | null): Promise<void> {
    if (step) await this.#ask(step);
  }

  /** The same for a page that must be the site's own. */
  async see(step: Step): Promise<void> {
    const body = await this.#ask(step);
    if (!body.includes("entered")) throw new Error(`someone on the site was told ${body}`);
  }

  async #ask({ method, path }: Step): Promise<string> {
    const { body, cookie } = await this.#client.ask(method, path, this.#cookie);
    this.#cookie = cookie ?? this.#cookie;
    return body;
  }
}

/** By the board, which costs no call, everyone has a turn. */
async function untilNobodyWaits(client: Client): Promise<void> {
  for (let n = 0; n < BOARDS_MAX; n++) {
    const { body } = await client.ask("GET", "/.fairgate/main/board", null);
    if ((JSON.parse(body) as Board).waiting === 0) return;
    await sleep(BOARD_MS);
  }
  throw new Error(`after ${(BOARDS_MAX * BOARD_MS) / 1_000} s some still wait`);
}

async function startOrigin(): Promise<Server> {
  const body = '{"status":"entered"}';
  const origin = createServer((_request, response) => {
    response.writeHead(200, { "Content-Length": body.length });
    response.end(body);
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  return origin;
}

function originOf(origin: Server): string {
  return `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
}
