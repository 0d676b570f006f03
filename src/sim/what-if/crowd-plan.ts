/**
 * A crowd before the run: when each visitor arrives, and what they are like. It follows from the seed and the crowd's own options
 * alone, so two runs with different settings have the same visitors, and any difference is due to the settings.
 *
 * Every visitor throws all dice, used or not: a higher share of impatient visitors leaves the others as they were.
 */
import { seededFraction } from "../hand-world.ts";
import { type Arrivals, arrivalTimes } from "./arrivals.ts";

export interface CrowdOptions extends Arrivals {
  /** Mean time from entering to the last request. */
  readonly stayMs: number;
  /** Share of those who wait that give up; here and below from 0 to 1. */
  readonly impatient: number;
  /** Share of those who get a turn that do not use it. */
  readonly noShow: number;
  /** Share of those who leave explicitly, so that their slot is free at once. */
  readonly leave: number;
  readonly seed: number;
}

/** One entry for each visitor, in order of arrival. */
export interface CrowdPlan {
  readonly size: number;
  readonly arrivesAfterMs: Float64Array;
  readonly staysMs: Float64Array;
  /** The share of their way to the front after which they give up; infinite for the patient. */
  readonly patience: Float64Array;
  /** From getting a turn to using it; infinite for those who never do. */
  readonly usesTurnAfterMs: Float64Array;
  /** 1: leaves explicitly. */
  readonly leaves: Uint8Array;
}

/** A page hears of a turn at once, or reads the board every four seconds. */
export const NOTICE_MAX_MS = 4_000;

export function planCrowd(options: CrowdOptions): CrowdPlan {
  const { size, stayMs, impatient, noShow, leave, seed } = options;
  const dice = seededFraction(seed);
  const plan: CrowdPlan = {
    size,
    arrivesAfterMs: arrivalTimes(options, dice),
    staysMs: new Float64Array(size),
    patience: new Float64Array(size),
    usesTurnAfterMs: new Float64Array(size),
    leaves: new Uint8Array(size),
  };
  for (let i = 0; i < size; i++) {
    // Many stay briefly and a few for long: exponential.
    plan.staysMs[i] = Math.round(-stayMs * Math.log(1 - dice()));
    plan.patience[i] = unless(dice() >= impatient, dice());
    plan.usesTurnAfterMs[i] = unless(dice() < noShow, Math.floor(dice() * NOTICE_MAX_MS));
    plan.leaves[i] = Number(dice() < leave);
  }
  return plan;
}

function unless(isNever: boolean, value: number): number {
  return isNever ? Number.POSITIVE_INFINITY : value;
}
