/** The suites of every engine, on a real Redis whose time is the test's own. Each engine has keys of its own there. */
import { after, test } from "node:test";
import { CAPABILITIES } from "../../core/capabilities.ts";
import type { Engine } from "../../core/engine.ts";
import type { HandWorld } from "../../sim/hand-world.ts";
import { conformance } from "../../testing/engines/conformance.ts";
import { modelTest } from "../../testing/engines/model.ts";
import {
  holdInEveryLife,
  propertyTests,
  rateIsNeverTooHigh,
  siteIsNeverTooFull,
  thePatientGetIn,
} from "../../testing/engines/properties.ts";
import { starvingTests } from "../../testing/engines/starving.ts";
import { connectionLives } from "../../testing/gateway/connection-lives.ts";
import { realWorld } from "../../testing/real-world.ts";
import { redisServersOf, TIMEOUT_MS } from "../../testing/redis/open-link.ts";
import { startRedis } from "../../testing/redis/servers.ts";
import { roomLibrary } from "./library.ts";
import { openLink } from "./link/link.ts";
import { RedisEngine } from "./redis-engine.ts";

/** Each step is a call over a socket, so there are fewer of them than in memory. */
const MODEL_RUNS = 50;
const LIVES = 4;
const SECOND_MS = 1_000;

const server = await startRedis();
const link = await openLink({
  servers: redisServersOf([server.port]),
  library: roomLibrary(),
  world: realWorld(),
  timeoutMs: TIMEOUT_MS,
});
after(async () => {
  await link.close();
  await server.stop();
});

let engines = 0;
const newEngine = (world: HandWorld) =>
  new RedisEngine({
    ...{ link, world: unhurried(world), replicas: 0, timeoutMs: 1_000, time: "handed" },
    prefix: `engine-${engines++}`,
  });

/** The suites turn the door themselves once a second; turns in between are calls that show nothing more. */
function unhurried(world: HandWorld): HandWorld {
  const every = (ms: number, work: () => void) => world.timers.every(Math.max(ms, SECOND_MS), work);
  return { ...world, timers: { ...world.timers, every } };
}
const exact = {
  name: "redis",
  capabilities: CAPABILITIES.redis,
  make: async (world: HandWorld) => newEngine(world),
};

/** The same, with every room's line cut into this many shards. */
function inShards(shards: number, peek: number) {
  return async (world: HandWorld): Promise<Engine> => {
    const engine = newEngine(world);
    const configure = engine.configure.bind(engine);
    engine.configure = (room, rules) => configure(room, { ...rules, relaxed: { shards, peek } });
    return engine;
  };
}

/** A line of one shard is in exact order, so it passes all that is not about things that shards cannot have. */
const oneShard = {
  name: "redis engine with a relaxed line of one shard: the",
  make: inShards(1, 1),
  capabilities: CAPABILITIES.relaxed,
};

for (const subject of [exact, oneShard]) conformance(subject);
modelTest(exact, MODEL_RUNS);
propertyTests(exact, LIVES);
connectionLives(exact, 2, LIVES);
for (const subject of [exact, oneShard]) starvingTests(subject, { runs: 1, honest: 6 });

test("a relaxed line of four shards, whatever happens: never too many on the site or in a minute, and the patient get in", () =>
  holdInEveryLife(
    { name: "relaxed", capabilities: CAPABILITIES.relaxed, make: inShards(4, 2) },
    {
      ...{ queueingMethod: "fifo", fillNoShows: false, privilegedOnly: false },
      lanes: { order: "strict", othersShare: 10, named: [] },
    },
    [siteIsNeverTooFull, rateIsNeverTooHigh, thePatientGetIn],
    { numRuns: LIVES },
  ));
