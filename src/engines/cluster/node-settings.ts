/** What one node is told at its start, and what fits most clusters. */
import type { SwimSettings } from "./membership/swim.ts";

export interface NodeSettings {
  readonly name: string;
  /** Rises with every start. */
  readonly life: number;
  /** Where peers reach this node. */
  readonly address: string;
  /** Where to ask to be taken in. Empty: a cluster is founded at once. */
  readonly join: readonly string[];
  /** Between counting rounds. */
  readonly intervalMs: number;
  /** When no more than so many are let in, the root does it one by one instead of by counting. */
  readonly oneByOneMax: number;
  /** So often neighbours are told what happened. */
  readonly replicateMs: number;
  /** After so long everyone knows what anyone wrote down: a period for each edge on the longest way. */
  readonly spreadMs: number;
  readonly swim: SwimSettings;
  /** How far clocks may differ. */
  readonly skewMaxMs: number;
  /** After which the slots of a lost member are anybody's again. null: never. 0: whoever cannot be reached is dead. */
  readonly reclaimAfterMs: number | null;
}

/** What fits most clusters; a node's name, life and addresses are its own. */
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
