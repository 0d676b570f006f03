/** Turns that nobody uses do not starve those behind: on the embedded engine. */

import { CAPABILITIES } from "../../core/capabilities.ts";
import type { HandWorld } from "../../sim/hand-world.ts";
import { starvingTests } from "../../testing/engines/starving.ts";
import { MemoryEngine } from "./memory-engine.ts";

starvingTests(
  {
    name: "memory",
    capabilities: CAPABILITIES.memory,
    make: async (world: HandWorld) => new MemoryEngine(world),
  },
  { runs: 12, honest: 40 },
);
