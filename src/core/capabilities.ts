/**
 * What each engine can do, as data. The settings check refuses what a room's engine cannot do, the suites leave out
 * what an engine does not promise, and docs/engines.md prints the table. How each one is opened is in
 * `assembly/engines.ts`, which is also the checklist for a new engine.
 */

export interface Capabilities {
  /** People are let in in the very order in which they came. */
  readonly exactOrder: boolean;
  /** Several lanes in one room, and one-time codes. */
  readonly lanes: boolean;
  /** `queueingMethod: random`. */
  readonly randomOrder: boolean;
  /** Drawing lots among those who gathered for an event. */
  readonly draws: boolean;
  /** One capacity for several rooms. */
  readonly budgets: boolean;
  /** `fillNoShows`: as many turns on top as will not be used. */
  readonly turnsOnTop: boolean;
}

export type Capability = keyof Capabilities;

/** A relaxed line is in Redis too, and is another engine by what it can do. */
export type EngineKind = "memory" | "redis" | "relaxed" | "cluster";

const ALL: Capabilities = {
  exactOrder: true,
  lanes: true,
  randomOrder: true,
  draws: true,
  budgets: true,
  turnsOnTop: true,
};

export const CAPABILITIES: Readonly<Record<EngineKind, Capabilities>> = {
  memory: ALL,
  redis: ALL,
  // Its shards know nothing of each other: there is no one order, and no one place where anything else is counted.
  relaxed: {
    exactOrder: false,
    lanes: false,
    randomOrder: false,
    draws: false,
    budgets: false,
    turnsOnTop: false,
  },
  // Nodes give turns on their own, so none of them knows how many will not be used.
  cluster: { ...ALL, turnsOnTop: false },
};

/** Those of `needed` that an engine has not. */
export function lacking(capabilities: Capabilities, needed: readonly Capability[]): readonly Capability[] {
  return needed.filter((capability) => !capabilities[capability]);
}
