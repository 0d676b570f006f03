/** The suites of every engine, on a real Redis whose time is the test's own. Each engine has keys of its own there. */
import { after } from "node:test";
import { realWorld } from "../../../test/real-world.ts";
import { startRedis } from "../../../test/redis/servers.ts";
import type { HandWorld } from "../../sim/hand-world.ts";
import { conformance } from "../conformance.ts";
import { modelTest } from "../model.ts";
import { propertyTests } from "../properties.ts";
import { roomLibrary } from "./library.ts";
import { openLink } from "./link.ts";
import { RedisEngine } from "./redis-engine.ts";

const server = await startRedis();
const link = await openLink({
  place: {
    mode: "standalone",
    addresses: [{ host: "127.0.0.1", port: server.port }],
    masterName: null,
    username: null,
    password: null,
    sentinelUsername: null,
    sentinelPassword: null,
    database: 0,
    tls: null,
  },
  library: roomLibrary(),
  world: realWorld(),
  timeoutMs: 10_000,
});
after(async () => {
  await link.close();
  await server.stop();
});

let engines = 0;
const redis = {
  name: "redis",
  make: async (world: HandWorld) =>
    new RedisEngine({
      ...{ link, world, replicas: 0, timeoutMs: 1_000, time: "handed" },
      prefix: `engine-${engines++}`,
    }),
};

conformance(redis);
modelTest(redis);
propertyTests(redis);
