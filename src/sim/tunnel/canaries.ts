/**
 * The rules that nodes can be made to break, to prove that the checks notice. Each comes with a plan that shows it, since not
 * every plan has the necessary faults: at least one of a few dozen seeds of that plan is caught.
 */
import type { PlanOptions } from "./plan.ts";

/**
 * Keeps slots that were given back; takes over a lost owner's places without the majority; reports no turns. `real-node.ts`
 * has these nodes.
 */
export type Canary = "give-twice" | "adopt-in-minority" | "forget-turns";

export interface CanaryPlan {
  readonly plan: Omit<PlanOptions, "seed" | "canary">;
  /** The first seed to try: one that was caught when this was written, to save time. */
  readonly firstSeed: number;
  /** The checks that may notice it. */
  readonly checks: readonly string[];
}

export const CANARY_PLANS: Readonly<Record<Canary, CanaryPlan>> = {
  "give-twice": {
    plan: { kind: "weather", nodes: 3, visitors: 150, seconds: 20 },
    firstSeed: 0,
    checks: ["capacity", "slots", "counts"],
  },
  /** Only after a clean cut is it certain which part a place belongs to. */
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

/** This many seeds of its plan are enough to notice any of them. */
export const CANARY_SEEDS_MAX = 40;

export function isCanary(name: string): name is Canary {
  return Object.hasOwn(CANARY_PLANS, name);
}
