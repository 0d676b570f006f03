/**
 * Joins and check-ins a second over HTTP, with the line in a Redis, beside a plain queue (servers/plain-queue.ts). Both get the
 * same requests over the same connections, one at a time on each, and answer JSON: a full site, a line, everyone waits. A
 * check-in is a small request of its own here, and the page asked for once more there; each is answered from Redis.
 *
 * The client sleeps when it has nothing to do: with two cores, Redis has to share the client's. Beside the rates is the processor
 * time of each side, which shows where the time goes, and a bare `node:http` server that answers the same bytes, the upper bound
 * for any gateway built on it.
 */
import { type Goal, measurePair, median, type Row, row } from "./bench.ts";
import { startChild } from "./child.ts";
import { Client } from "./client.ts";
import { type Load, load } from "./load.ts";
import { Side, type Spent } from "./redis-side.ts";

const RATIO_MIN = 10;
export const CONNECTIONS = 128;
/** Those who come back again and again, in the check-ins. */
const VISITORS = 2_000;
const SLICE_MS = 200;
const JSON_STATUS_WAITING = 429;

type Request = Load["request"];
type Subject = Pick<Load, "port" | "request" | "status">;

const headers = (cookie: string) =>
  `Host: shop.example\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\r\nAccept: application/json\r\nAccept-Language: en\r\nAccept-Encoding: gzip, br\r\n${cookie && `Cookie: ${cookie}\r\n`}\r\n`;
const getPage = (cookie = "") => Buffer.from(`GET /event/1 HTTP/1.1\r\n${headers(cookie)}`);
const checkIn = (cookie: string) =>
  Buffer.from(`POST /.fairgate/main/check-in HTTP/1.1\r\nContent-Length: 0\r\n${headers(cookie)}`);

const PAGE = getPage();
const joining: Request = () => PAGE;

export async function speedRows(isQuick: boolean, progress: (text: string) => void): Promise<Row[]> {
  const measure = (start: Parameters<typeof measurePair>[2]) =>
    measurePair(isQuick ? 1 : 4, isQuick ? 3 : 8, start);
  const goal: Goal = { of: "ratio", atLeast: RATIO_MIN };
  progress("join");
  const joinCosts = new Costs();
  const join = await measure(() => joins(joinCosts));
  progress("check-in");
  const checkInCosts = new Costs();
  const check = await measure(() => checkIns(checkInCosts));
  progress("bare server");
  const bare = await measure(bareBesideSeed);
  return [
    row({ name: "join", unit: "joins/s", ...join, goal }),
    ...joinCosts.rows("join"),
    row({ name: "check-in", unit: "check-ins/s", ...check, goal }),
    ...checkInCosts.rows("check-in"),
    row({ name: "a bare node:http server with the same bytes and no Redis", unit: "answers/s", ...bare }),
  ];
}

async function joins(costs: Costs) {
  const [ours, seed] = await bothSides();
  return {
    value: costs.measure("ours", ours, { ...subject(ours, joining), status: JSON_STATUS_WAITING }),
    baseline: costs.measure("seed", seed, subject(seed, joining)),
    stop: () => stopAll(ours, seed),
  };
}

async function checkIns(costs: Costs) {
  const [ours, seed] = await bothSides();
  const [ourCookies, seedCookies] = [await joinAll(ours), await joinAll(seed)];
  return {
    value: costs.measure("ours", ours, subject(ours, inTurn(ourCookies.map(checkIn)))),
    baseline: costs.measure("seed", seed, subject(seed, inTurn(seedCookies.map(getPage)))),
    stop: () => stopAll(ours, seed),
  };
}

/** A check-in without any work but to answer. */
async function bareBesideSeed() {
  const [ours, seed] = await bothSides();
  const [cookie] = await joinAll(ours, 1);
  const client = await Client.open(ours.port, 1);
  const { body } = await client.ask("POST", "/.fairgate/main/check-in", cookie!);
  client.close();
  const flat = ["Content-Type", "application/json; charset=utf-8", "Content-Length", String(body.length)];
  const bare = await startChild<{ port: number }>("bare-server", [
    JSON.stringify({ status: 200, headers: flat, body }),
  ]);
  const run = (one: Subject) => () =>
    load({ ...one, connections: CONNECTIONS, milliseconds: SLICE_MS, maySleep: true });
  const cookies = await joinAll(seed);
  return {
    value: run({ port: bare.ready.port, request: inTurn([checkIn(cookie!)]) }),
    baseline: run(subject(seed, inTurn(cookies.map((each) => getPage(each))))),
    stop: () => stopAll(bare, ours, seed),
  };
}

/** Processor time of each answer, slice by slice. */
class Costs {
  readonly #found: Record<"ours" | "seed", Spent[]> = { ours: [], seed: [] };

  /** A measurement that also records processor time. */
  measure(who: "ours" | "seed", side: Side, one: Subject): () => Promise<number> {
    return async () => {
      let answers = 0;
      const request: Request = (connection, n) => {
        answers++;
        return one.request(connection, n);
      };
      const before = await side.spent();
      const rate = await load({
        ...one,
        request,
        connections: CONNECTIONS,
        milliseconds: SLICE_MS,
        maySleep: true,
      });
      const after = await side.spent();
      this.#found[who].push({
        gatewayUs: (after.gatewayUs - before.gatewayUs) / answers,
        redisUs: (after.redisUs - before.redisUs) / answers,
      });
      return rate;
    };
  }

  rows(what: string): Row[] {
    const part = (name: string, of: (spent: Spent) => number) =>
      row({
        name: `  processor time of a ${what}: ${name}`,
        unit: "µs",
        value: median(this.#found.ours.map(of)),
        baseline: median(this.#found.seed.map(of)),
      });
    return [part("gateway", ({ gatewayUs }) => gatewayUs), part("Redis", ({ redisUs }) => redisUs)];
  }
}

const bothSides = () => Promise.all([Side.open("redis-gateway", 1), Side.open("plain-queue", 1)]);

async function stopAll(...parts: readonly { stop(): Promise<void> }[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop()));
}

function subject({ port }: Side, request: Request): Subject {
  return { port, request };
}

function inTurn(requests: readonly Buffer[]): Request {
  let next = 0;
  return () => requests[next++ % requests.length]!;
}

/** Cookies of `count` visitors who joined. */
async function joinAll({ port }: Side, count = VISITORS): Promise<string[]> {
  const client = await Client.open(port, Math.min(count, CONNECTIONS));
  const answers = await Promise.all(Array.from({ length: count }, () => client.ask("GET", "/event/1", null)));
  client.close();
  return answers.map(({ cookie }) => cookie!);
}
