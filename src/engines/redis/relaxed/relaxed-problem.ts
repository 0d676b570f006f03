/** What is thrown when a call failed for some items, with the outcome of each. */
import type { RedisProblem } from "../link/problem.ts";

/** `refused`: certainly not done. `unknown`: it may have been done; doing it again is harmless. */
export type Outcome = "done" | "refused" | "unknown";

export interface ItemOutcome {
  readonly id: string;
  readonly outcome: Outcome;
}

/** Some items were not served. Those with the outcome `done` were, and stay so. */
export class RelaxedProblem extends Error {
  override readonly name = "RelaxedProblem";
  /** In the order of asking. To add again, give the ids that are here. */
  readonly items: readonly ItemOutcome[];
  declare readonly cause: RedisProblem;

  constructor(what: string, items: readonly ItemOutcome[], cause: RedisProblem) {
    const failed = items.filter(({ outcome }) => outcome !== "done").length;
    super(`Could not ${what} ${failed} of ${items.length} items: ${cause.message}`, { cause });
    this.items = items;
  }
}

/** The producers and consumers of a queue do not agree on how many shards it has. */
export class ShardsMismatch extends Error {
  override readonly name = "ShardsMismatch";

  constructor(key: string, given: number, actual: number) {
    super(
      `The queue of "${key}" has ${actual} shards, not ${given}: give all its producers and consumers the same ` +
        "number, or empty it before it gets another.",
    );
  }
}
