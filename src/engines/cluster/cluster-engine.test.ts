/** The cluster engine passes what every engine passes: one node by itself, exactly as the embedded engine does. */
import { conformance } from "../conformance.ts";
import { modelTest } from "../model.ts";
import { propertyTests } from "../properties.ts";
import { ClusterEngine } from "./cluster-engine.ts";
import { DEFAULT_NODE_SETTINGS } from "./node.ts";

const alone = {
  name: "cluster (one node)",
  make: async (world: ConstructorParameters<typeof ClusterEngine>[0]) =>
    new ClusterEngine(world, { ...DEFAULT_NODE_SETTINGS, name: "a", life: 1, address: "a" }, () => {}),
};

conformance(alone);
modelTest(alone);
propertyTests(alone);
