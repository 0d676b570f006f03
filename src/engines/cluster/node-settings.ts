/** What one node is configured with, and defaults that fit most clusters. */
import type { SwimSettings } from "./membership/swim.ts";

export interface NodeSettings {
  readonly name: string;
  /** Rises with every start. */
  readonly life: number;
  /** Where peers reach this node: host:port. */
  readonly address: string;
  /** Addresses of the nodes to join. Empty: create a cluster at once. */
  readonly join: readonly string[];
  /** Time between counting rounds. */
  readonly intervalMs: number;
  /** Up to this many visitors are admitted one by one by the root, and more by counting. */
  readonly oneByOneMax: number;
  /** Time between two transfers of log entries to a neighbour. */
  readonly replicateMs: number;
  /** After this long every node knows what any node wrote: one period for each edge of the longest way. */
  readonly spreadMs: number;
  readonly swim: SwimSettings;
  /** How far apart clocks may be. */
  readonly skewMaxMs: number;
  /** After this long the slots of a lost member are given out again. null: never. 0: an unreachable node is dead. */
  readonly reclaimAfterMs: number | null;
}

/** Defaults that fit most clusters; name, life and addresses are each node's own. */
export const DEFAULT_NODE_SETTINGS: Omit<NodeSettings, "name" | "life" | "address"> = {
  join: [],
  intervalMs: 100,
  oneByOneMax: 1,
  replicateMs: 100,
  spreadMs: 1_000,
  swim: { periodMs: 500, ackTimeoutMs: 200, indirectProbes: 3, suspicionPeriods: 4 },
  skewMaxMs: 1_000,
  reclaimAfterMs: 600_000,
};
