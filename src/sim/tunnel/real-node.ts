/** The node under test: the code of a real node. */
import { ClusterNode, NODE_PARTS } from "../../engines/cluster/node.ts";
import type { MakeNode } from "./sim-node.ts";

export const realNode: MakeNode = nodeOf(NODE_PARTS);

/** Makes nodes from these parts. */
export function nodeOf(parts: typeof NODE_PARTS): MakeNode {
  return (settings, dice, now) => new ClusterNode(settings, dice, now, parts);
}
