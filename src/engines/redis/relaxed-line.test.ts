import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../../sim/hand-world.ts";
import { IN_SHARDS } from "./library.ts";
import type { RedisLink } from "./link/link.ts";
import { RelaxedLine, type RelaxedParts } from "./relaxed-line.ts";
import { RoomCalls, type RoomCallsParts } from "./room-calls.ts";

const ID = "ab".repeat(16);
const MEMBER = `${ID}1000`;

/** A Redis with one visitor in its only shard, who has entered already when they are taken. */
const ANSWERS: Readonly<Record<string, readonly unknown[]>> = {
  sweep: [1, 0],
  reserve: [1, 3_000, "", 0, 0, 1, "1"],
  peek: [1, MEMBER],
  take: [1, MEMBER, 0, 9_000],
  confirm: [1, 0],
  visit: [1_000, 0, 0, 0, 0, 0, 0],
};

test("a turn of the door tells what became of it though visitors' calls wait for that turn", async () => {
  const asked: string[] = [];
  const link = {
    call: async (called: string) => {
      const name = called.slice(IN_SHARDS.length);
      asked.push(name);
      return ANSWERS[name] ?? assert.fail(`${name} was called`);
    },
  } as Partial<RedisLink> as RedisLink;
  const world = handWorld();
  const callsParts: RoomCallsParts = {
    ...{ link, world, time: "handed", functions: IN_SHARDS, replicas: 0, timeoutMs: 1_000 },
  };
  const reopen = async () => {};
  const over = Promise.withResolvers<void>();
  const parts: Partial<RelaxedParts> = {
    ...{ prefix: "test", name: "main", gateway: "one", world, callsParts, reopen },
    calls: new RoomCalls("test:main", callsParts, reopen),
    ready: () => over.promise,
  };
  const line = new RelaxedLine({ shards: 1, peek: 1 }, parts as RelaxedParts);
  const { sequences } = await line.turn({ now: "1000", gateway: "one", fence: 1, orders: [], dice: [] });
  over.resolve();
  assert.deepEqual(sequences, []);
  assert.deepEqual(asked, ["sweep", "reserve", "peek", "take", "confirm", "visit"]);
});
