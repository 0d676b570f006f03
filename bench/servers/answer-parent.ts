/**
 * What the bench asks each node of a cluster: how many it is with, what its room counts, what it has cost so far, and to
 * give its room other slots.
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

/** None before all is settled. */
function membersOf(engine: ClusterEngine): number {
  const { view, isSettled } = engine.status(false);
  return view && isSettled ? view.members.length : 0;
}
