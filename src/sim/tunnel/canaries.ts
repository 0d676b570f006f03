/**
 * The rules that nodes can be made to break, so that the checks can show that they see it. Each comes with a plan in which
 * it shows, since not every plan has what it takes: of a few dozen seeds of that plan one at least is caught.
 */
import type { PlanOptions } from "./plan.ts";

/**
 * Slots that were given back are kept all the same; a lost owner's places are taken over without the majority; turns take
 * no slot. `broken-nodes.ts` has the nodes that do so.
 */
export type Canary = "give-twice" | "adopt-in-minority" | "forget-turns";

export interface CanaryPlan {
  readonly plan: Omit<PlanOptions, "seed" | "canary">;
  /** The first seed to try: one that was caught when this was written, to save time. Those after it do as well. */
  readonly firstSeed: number;
  /** Which checks may see it. */
  readonly checks: readonly string[];
}

export const CANARY_PLANS: Readonly<Record<Canary, CanaryPlan>> = {
  "give-twice": {
    plan: { kind: "weather", nodes: 3, visitors: 150, seconds: 20 },
    firstSeed: 0,
    checks: ["capacity", "slots", "counts"],
  },
  /** Only after a clean cut is it plain whose places are whose. */
  "adopt-in-minority": {
    plan: {
      kind: "splits",
      nodes: 5,
      visitors: 300,
      seconds: 60,
      without: ["oneWay", "clog", "spike", "slow", "loss", "skew", "duplication", "reorder"],
    },
    firstSeed: 32,
    checks: ["own part"],
  },
  "forget-turns": {
    plan: { kind: "weather", nodes: 5, visitors: 150, seconds: 20 },
    firstSeed: 1,
    checks: ["capacity", "slots"],
  },
};

export const CANARIES = Object.keys(CANARY_PLANS) as Canary[];

/** So many seeds of its plan are enough to see any of them. */
export const CANARY_SEEDS_MAX = 40;

export function isCanary(name: string): name is Canary {
  return Object.hasOwn(CANARY_PLANS, name);
}
