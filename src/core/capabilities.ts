/**
 * What each engine can do, as data. The settings check refuses what a room's engine cannot do, the suites skip what an engine
 * does not promise, and docs/engines.md prints the table. `assembly/engines.ts` opens the engines and is the checklist for a
 * new one.
 */

export interface Capabilities {
  /** Visitors are let in in the exact order in which they came. */
  readonly exactOrder: boolean;
  /** Several lanes in one room, and one-time codes. */
  readonly lanes: boolean;
  /** `queueingMethod: random`. */
  readonly randomOrder: boolean;
  /** Random draws among the visitors gathered for an event. */
  readonly draws: boolean;
  /** One capacity for several rooms. */
  readonly budgets: boolean;
  /** `fillNoShows`: turns given on top for those that will not be used. */
  readonly turnsOnTop: boolean;
  /** `shop`: what is sold behind the room is kept with its line. */
  readonly shop: boolean;
}

export type Capability = keyof Capabilities;

/** A relaxed line is in Redis too, but counts as an engine of its own here, since it can do less. */
export type EngineKind = "memory" | "redis" | "relaxed" | "cluster";

const ALL: Capabilities = {
  exactOrder: true,
  lanes: true,
  randomOrder: true,
  draws: true,
  budgets: true,
  turnsOnTop: true,
  shop: true,
};

export const CAPABILITIES: Readonly<Record<EngineKind, Capabilities>> = {
  memory: ALL,
  redis: ALL,
  // Its shards are independent: there is no total order, and no single place to count anything.
  relaxed: {
    exactOrder: false,
    lanes: false,
    randomOrder: false,
    draws: false,
    budgets: false,
    turnsOnTop: false,
    shop: false,
  },
  // Nodes give turns independently, so none of them knows how many will not be used. Nor has a shop's ledger a place that survives
  // the loss of any node.
  cluster: { ...ALL, turnsOnTop: false, shop: false },
};
