/** The cluster engine passes what every engine passes: one node by itself, exactly as the embedded engine does. */

import { CAPABILITIES } from "../../core/capabilities.ts";
import { InstantCluster } from "../../testing/cluster/instant-cluster.ts";
import { conformance } from "../../testing/engines/conformance.ts";
import { modelTest } from "../../testing/engines/model.ts";
import { propertyTests } from "../../testing/engines/properties.ts";
import { starvingTests } from "../../testing/engines/starving.ts";
import { connectionLives } from "../../testing/gateway/connection-lives.ts";
import { ClusterEngine } from "./cluster-engine.ts";
import { DEFAULT_NODE_SETTINGS } from "./node-settings.ts";

const alone = {
  name: "cluster (one node)",
  // By itself a node does all that one process can.
  capabilities: CAPABILITIES.memory,
  make: async (world: ConstructorParameters<typeof ClusterEngine>[0]) =>
    new ClusterEngine(world, { ...DEFAULT_NODE_SETTINGS, name: "a", life: 1, address: "a" }, () => {}),
};

conformance(alone);
modelTest(alone);
propertyTests(alone);
connectionLives(alone, 2);
starvingTests(alone, { runs: 6, honest: 40 });

const together = {
  name: "cluster (three nodes)",
  make: async (world: ConstructorParameters<typeof ClusterEngine>[0]) => new InstantCluster(world, 3),
  capabilities: CAPABILITIES.cluster,
};

conformance(together);
propertyTests(together, 5);
connectionLives(together, 2, 10);
starvingTests(together, { runs: 1, honest: 12 });
