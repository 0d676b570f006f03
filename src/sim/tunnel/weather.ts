/** The part of a plan's faults that holds all the time: what the network and the clocks are like. */
import { between, diceOf } from "./dice.ts";
import type { Weather } from "./network.ts";
import type { Plan } from "./plan.ts";

export function weatherOf({ delayMs, faults }: Plan): Weather {
  return {
    delayMs,
    loss: faults.loss?.share ?? 0,
    duplication: faults.duplication?.share ?? 0,
    reorder: faults.reorder?.share ?? 0,
    reorderUpToMs: faults.reorder?.sizeMs ?? 0,
  };
}

/** What a node's clock is like: no two differ by more than the skew. */
export function clockOf(
  { seed, faults: { skew } }: Plan,
  index: number,
): { skewMs: number; driftPpm: number } {
  const dice = diceOf(seed, "clock", index);
  const skewMs = Math.round(between(dice, { from: -0.5, to: 0.5 }) * (skew?.sizeMs ?? 0));
  const driftPpm = between(dice, { from: -100, to: 100 });
  return skew === null ? { skewMs: 0, driftPpm: 0 } : { skewMs, driftPpm };
}
