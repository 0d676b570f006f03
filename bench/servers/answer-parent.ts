/** What the bench asks each node of a cluster: how many it is with, what its room counts, and what it has cost so far. */
import type { ClusterEngine } from "../../src/engines/cluster/cluster-engine.ts";

export type NodeQuestion = "members" | "counts" | "spent";

export function answerParent(engine: ClusterEngine, room: string): void {
  process.on("disconnect", () => process.exit());
  process.on("message", (question: NodeQuestion) => {
    if (question === "members") process.send?.(membersOf(engine));
    else process.send?.(question === "counts" ? engine.counts(room) : process.cpuUsage());
  });
}

/** None before all is settled. */
function membersOf(engine: ClusterEngine): number {
  const { view, isSettled } = engine.status(false);
  return view && isSettled ? view.members.length : 0;
}
