/**
 * The kinds of faults, each with a name by which it can be switched off and bounds from which a plan draws its strength. `share`
 * kinds hold all the time; the others are incidents with a number and a duration.
 *
 * The bounds are chosen so that the cluster can keep its promises: jumps of clocks stay below the grace of passes, a majority
 * stays up, and cuts are shorter than the time after which a lost part is given up.
 */
import type { Range } from "./dice.ts";

export interface FaultBounds {
  /** The share of messages (or requests) it hits. */
  readonly share?: Range;
  /** Incidents: how many in a run. */
  readonly times?: Range;
  readonly forMs?: Range;
  /** Strength: milliseconds of delay, stall, skew or jump. */
  readonly sizeMs?: Range;
}

export const FAULTS = {
  loss: { share: { from: 0.01, to: 0.15 } },
  duplication: { share: { from: 0.01, to: 0.1 } },
  reorder: { share: { from: 0.01, to: 0.2 }, sizeMs: { from: 20, to: 500 } },
  /** A visitor's request, or the answer to it, is lost. */
  visitorLoss: { share: { from: 0.01, to: 0.1 } },
  skew: { sizeMs: { from: 5, to: 50 } },
  /** Messages from one node, or all, take much longer for a while. */
  spike: { times: { from: 1, to: 4 }, forMs: { from: 200, to: 3_000 }, sizeMs: { from: 50, to: 800 } },
  /** A process stalls again and again, each time for a moment. */
  slow: { times: { from: 1, to: 3 }, forMs: { from: 1_000, to: 5_000 }, sizeMs: { from: 20, to: 400 } },
  /** The cluster is cut into two parts. */
  partition: { times: { from: 1, to: 3 }, forMs: { from: 500, to: 12_000 } },
  /** Messages of one link, or all to or from one node, are lost; those the other way arrive. */
  oneWay: { times: { from: 1, to: 3 }, forMs: { from: 500, to: 8_000 } },
  /** Messages of one link, or all from one node, are held and arrive together later. */
  clog: { times: { from: 1, to: 3 }, forMs: { from: 200, to: 5_000 } },
  /** A clock is set forward or back, and corrected later. */
  jump: { times: { from: 1, to: 3 }, forMs: { from: 1_000, to: 20_000 }, sizeMs: { from: 50, to: 1_000 } },
  crash: { times: { from: 1, to: 3 }, forMs: { from: 200, to: 10_000 } },
  crashForGood: { times: { from: 1, to: 2 } },
  add: { times: { from: 1, to: 3 } },
  /** A node leaves with a goodbye. */
  leave: { times: { from: 1, to: 2 } },
  restartAll: { times: { from: 1, to: 1 }, forMs: { from: 200, to: 3_000 } },
} as const satisfies Readonly<Record<string, FaultBounds>>;

export type FaultKind = keyof typeof FAULTS;

export const FAULT_KINDS = Object.keys(FAULTS) as FaultKind[];

export type IncidentKind = {
  [Kind in FaultKind]: (typeof FAULTS)[Kind] extends { readonly times: Range } ? Kind : never;
}[FaultKind];

export const INCIDENT_KINDS = FAULT_KINDS.filter((kind): kind is IncidentKind => "times" in FAULTS[kind]);

export interface Fault {
  readonly share: number;
  readonly times: number;
  readonly forMs: Range;
  readonly sizeMs: number;
}
