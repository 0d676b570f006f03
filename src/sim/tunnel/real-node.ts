/** The nodes under test: those of a real cluster, and the same with one part replaced that breaks a rule on purpose. */
import { DoorDuty } from "../../engines/cluster/door/door-duty.ts";
import { Replication } from "../../engines/cluster/log/replication.ts";
import type { View } from "../../engines/cluster/membership/view.ts";
import { ClusterNode, NODE_PARTS } from "../../engines/cluster/node.ts";
import type { RoomBooks } from "../../engines/cluster/visitors/room-books.ts";
import type { Canary } from "./canaries.ts";
import type { MakeNode } from "./sim-node.ts";

export const realNode: MakeNode = nodeOf(NODE_PARTS);

/** Makes nodes from these parts. */
export function nodeOf(parts: typeof NODE_PARTS): MakeNode {
  return (settings, dice, now) => new ClusterNode(settings, dice, now, parts);
}

class GivesTwice extends DoorDuty {
  protected override settleUp(books: RoomBooks, now: number) {
    const { held } = books;
    const report = super.settleUp(books, now);
    books.held = held;
    return report;
  }
}

class AdoptsInMinority extends Replication {
  override start(view: View, now: number): void {
    super.start({ ...view, isMajority: true }, now);
  }
}

class ForgetsTurns extends DoorDuty {
  protected override settleUp(books: RoomBooks, now: number) {
    return { ...super.settleUp(books, now), turns: 0 };
  }
}

const BROKEN_PARTS: Readonly<Record<Canary, Partial<typeof NODE_PARTS>>> = {
  "give-twice": { DoorDuty: GivesTwice },
  "adopt-in-minority": { Replication: AdoptsInMinority },
  "forget-turns": { DoorDuty: ForgetsTurns },
};

/** Makes nodes that break this rule. */
export function brokenNode(canary: Canary): MakeNode {
  return nodeOf({ ...NODE_PARTS, ...BROKEN_PARTS[canary] });
}
