/** The node under test: the very code that runs in a cluster. */
import { ClusterNode, DEFAULT_NODE_SETTINGS } from "../../engines/cluster/node.ts";
import { CANARIES } from "./canaries.ts";
import type { MakeNode } from "./sim-node.ts";

/** Both ways of letting people in are to be seen: few are let in one by one, many by counting. */
const ONE_BY_ONE_MAX = 2;

export const realNode: MakeNode = (settings, dice, now) => {
  const canary = CANARIES.find((name) => name === settings.canary) ?? null;
  const { spreadMs } = DEFAULT_NODE_SETTINGS;
  return new ClusterNode({ oneByOneMax: ONE_BY_ONE_MAX, spreadMs, ...settings, canary }, dice, now);
};
