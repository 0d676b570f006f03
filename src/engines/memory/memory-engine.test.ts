import { conformance } from "../conformance.ts";
import { modelTest } from "../model.ts";
import { MemoryEngine } from "./memory-engine.ts";

const memory = {
  name: "memory",
  make: async (world: ConstructorParameters<typeof MemoryEngine>[0]) => new MemoryEngine(world),
};

conformance(memory);
modelTest(memory);
