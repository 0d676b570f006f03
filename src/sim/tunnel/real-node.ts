/** The node under test: the very code that runs in a cluster. */
import { ClusterNode } from "../../engines/cluster/node.ts";
import { CANARIES } from "./canaries.ts";
import type { MakeNode } from "./sim-node.ts";

export const realNode: MakeNode = (settings, dice, now) => {
  const canary = CANARIES.find((name) => name === settings.canary) ?? null;
  return new ClusterNode({ ...settings, canary }, dice, now);
};
