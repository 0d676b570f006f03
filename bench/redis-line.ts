/**
 * Whether a long line in Redis costs more than a short one: a join and a check-in of the engine, with no HTTP, in a very long
 * line beside a short one. And the memory that each waiting visitor takes in Redis, beside one entry of a sorted set, which is
 * all that a plain queue keeps.
 */
import { randomBytes } from "node:crypto";
import { type RedisServer, startRedis } from "../src/testing/redis/servers.ts";
import { measurePair, type Row, row } from "./bench.ts";
import { type Child, startChild, unpin } from "./child.ts";
import { usedMemory } from "./redis-figures.ts";

const SMALL = 10_000;
const LARGE = 1_000_000;
const LARGE_QUICK = 200_000;
const GROWTH_MAX = 2;
const ENTRIES = 100_000;
const ENTRIES_AT_ONCE = 10_000;
const SESSION_ID_BYTES = 24;

interface Filled {
  readonly bytesEach: number;
  readonly joinsPerSecond: number;
}

interface Line {
  readonly redis: RedisServer;
  readonly engine: Child<Filled>;
}

export async function lineRows(isQuick: boolean, progress: (text: string) => void): Promise<Row[]> {
  const waiting = isQuick ? LARGE_QUICK : LARGE;
  progress(`filling a line with ${waiting.toLocaleString("en")}`);
  const small = await fill(SMALL);
  const large = await fill(waiting);
  try {
    const { bytesEach, joinsPerSecond } = large.engine.ready;
    return [
      await growth("join", { large, small, waiting, isQuick }),
      await growth("checkIn", { large, small, waiting, isQuick }),
      row({ name: `filling a line with ${written(waiting)}`, unit: "joins/s", value: joinsPerSecond }),
      row({
        name: "memory of each waiting visitor, beside an entry of a sorted set",
        unit: "bytes",
        value: bytesEach,
        baseline: await entryBytes(),
      }),
    ];
  } finally {
    await Promise.all([stop(small), stop(large)]);
  }
}

async function growth(
  what: "join" | "checkIn",
  { large, small, waiting, isQuick }: { large: Line; small: Line; waiting: number; isQuick: boolean },
): Promise<Row> {
  const found = await measurePair(1, isQuick ? 6 : 20, async () => ({
    value: () => large.engine.ask<number>(what),
    baseline: () => small.engine.ask<number>(what),
    stop: async () => {},
  }));
  const name = `${what === "join" ? "join" : "check-in"} of the engine, ${written(waiting)} waiting beside ${written(SMALL)}`;
  return row({ name, unit: "ns", ...found, goal: { of: "ratio", atMost: GROWTH_MAX } });
}

async function fill(waiting: number): Promise<Line> {
  const redis = await startRedis();
  unpin(redis.pid!);
  return { redis, engine: await startChild("redis-costs", [redis.url, String(waiting)]) };
}

async function stop({ redis, engine }: Line): Promise<void> {
  await engine.stop();
  await redis.stop();
}

/** Memory of a session's id in a sorted set ordered by time of arrival. */
async function entryBytes(): Promise<number> {
  await using redis = await startRedis();
  const before = await usedMemory(redis.url);
  for (let n = 0; n < ENTRIES; n += ENTRIES_AT_ONCE) {
    const ids = Array.from({ length: ENTRIES_AT_ONCE }, () =>
      randomBytes(SESSION_ID_BYTES).toString("base64url"),
    );
    await redis.command("ZADD", "queue", ...ids.flatMap((id) => [Date.now(), id]));
  }
  return ((await usedMemory(redis.url)) - before) / ENTRIES;
}

function written(count: number): string {
  return count.toLocaleString("en");
}
