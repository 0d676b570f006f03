import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { CAPABILITIES } from "../../core/capabilities.ts";
import { DurableHost } from "../../durable/host.ts";
import type { HandWorld } from "../../sim/hand-world.ts";
import { conformance } from "../../testing/engines/conformance.ts";
import { modelTest } from "../../testing/engines/model.ts";
import { propertyTests } from "../../testing/engines/properties.ts";
import { connectionLives } from "../../testing/gateway/connection-lives.ts";
import { realWorld } from "../../testing/real-world.ts";
import { MemoryEngine } from "./memory-engine.ts";

const memory = {
  name: "memory",
  capabilities: CAPABILITIES.memory,
  make: async (world: HandWorld) => new MemoryEngine(world),
};

/** The same on a real store: each engine has objects of its own in it. */
const directory = mkdtempSync(join(tmpdir(), "fairgate-engine-"));
const host = await DurableHost.open({ directory, world: realWorld() });
let engines = 0;
const kept = {
  name: "memory engine that is kept: the",
  capabilities: CAPABILITIES.memory,
  make: async (world: HandWorld) => {
    const life = engines++;
    return new MemoryEngine(world, (room) => host.state(`${life}/${room}`).storage);
  },
};
after(async () => {
  await host.close();
  rmSync(directory, { recursive: true });
});

for (const subject of [memory, kept]) {
  conformance(subject);
  modelTest(subject);
  propertyTests(subject);
  connectionLives(subject, 1);
}
