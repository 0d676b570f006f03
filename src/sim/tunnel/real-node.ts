/** The node under test: the very code that runs in a cluster. */
import { ClusterNode, DEFAULT_NODE_SETTINGS, NODE_PARTS } from "../../engines/cluster/node.ts";
import type { MakeNode } from "./sim-node.ts";

/** Both ways of letting people in are to be seen: few are let in one by one, many by counting. */
const ONE_BY_ONE_MAX = 2;

export const realNode: MakeNode = nodeOf(NODE_PARTS);

/** Makes nodes of these parts. */
export function nodeOf(parts: typeof NODE_PARTS): MakeNode {
  const { spreadMs } = DEFAULT_NODE_SETTINGS;
  return (settings, dice, now) =>
    new ClusterNode({ oneByOneMax: ONE_BY_ONE_MAX, spreadMs, ...settings }, dice, now, parts);
}
