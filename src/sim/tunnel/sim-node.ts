/**
 * A node as the tunnel sees it: the calls that a transport and a gateway make on one, and nothing of its inside but what it
 * says of itself in `status`. The tunnel is handed a way to make nodes, so that it can also run a stand-in whose faults are
 * known: that is how the checks are tested.
 */
import type { ClusterNode, NodeEvent } from "../../engines/cluster/node.ts";
import { DEFAULT_NODE_SETTINGS, type NodeSettings } from "../../engines/cluster/node-settings.ts";
import type { NodeStatus, RoomStatus, ViewStatus } from "../../engines/cluster/node-status.ts";

export type { RoomStatus } from "../../engines/cluster/node-status.ts";

const { join: _, ...SHIPPED } = DEFAULT_NODE_SETTINGS;

/** The settings of a node as shipped. A run states where its own differ. */
export const NODE_SETTINGS: Omit<NodeSettings, "name" | "life" | "address" | "join"> = SHIPPED;

type Calls = "configure" | "receive" | "tick" | "nextAt" | "join" | "checkIn" | "enter" | "touch" | "leave";

export interface SimNode
  extends Pick<ClusterNode, Calls | "isGone" | "leaveCluster" | "counts" | "board">,
    Partial<Pick<ClusterNode, "refused">> {
  takeOutbox(): readonly SimOutgoing[];
  takeEvents(): readonly SimNodeEvent[];
  status(): SimNodeStatus;
}

export interface SimOutgoing {
  readonly to: string;
  readonly message: unknown;
}

type Revoked = Extract<NodeEvent, { kind: "revoked" }>;

export type SimNodeEvent =
  | Extract<NodeEvent, { kind: "turns" }>
  | Omit<Revoked, "until">
  | { readonly kind: Exclude<NodeEvent["kind"], "turns" | "revoked"> };

/** What a node says of itself, as far as checks ask. */
export interface SimNodeStatus
  extends Pick<NodeStatus, "name" | "life" | "number" | "isRoot" | "pointer" | "isSettled"> {
  readonly view: SimViewStatus | null;
  readonly rooms: Readonly<Record<string, RoomStatus>>;
}

export interface SimViewStatus extends Pick<ViewStatus, "version" | "isMajority"> {
  readonly members: readonly Omit<ViewStatus["members"][number], "is" | "clockWrongMs">[];
  readonly lost: readonly Omit<ViewStatus["lost"][number], "address">[];
}

export type MakeNode = (settings: NodeSettings, dice: () => number, now: number) => SimNode;
