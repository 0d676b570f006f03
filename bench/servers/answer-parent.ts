/**
 * What the bench asks each node of a cluster: how many nodes it knows, its room's counts, its processor time so far; and it
 * changes the room's slots.
 */
import type { ClusterEngine } from "../../src/engines/cluster/cluster-engine.ts";

export type NodeQuestion = "members" | "counts" | "spent" | { readonly slots: number };

export interface Asked {
  readonly engine: ClusterEngine;
  readonly room: string;
  setSlots(slots: number): void;
}

export function answerParent(asked: Asked): void {
  process.on("disconnect", () => process.exit());
  process.on("message", (question: NodeQuestion) => process.send?.(answerOf(asked, question)));
}

function answerOf({ engine, room, setSlots }: Asked, question: NodeQuestion): unknown {
  if (question === "members") return membersOf(engine);
  if (question === "counts") return engine.counts(room);
  if (question !== "spent") setSlots(question.slots);
  return process.cpuUsage();
}

/** None before the cluster is settled. */
function membersOf(engine: ClusterEngine): number {
  const { view, isSettled } = engine.status(false);
  return view && isSettled ? view.members.length : 0;
}
