/**
 * One run of Koopmans' experiment (section 6.1 of the thesis) with our nodes: a cluster forms, users arrive over 100 seconds, and
 * in the same time nodes lose power and others are added, all at instants drawn from the seed of the run. The parameters are
 * those of Table 6.1.
 *
 * It runs with the settings that a node is shipped with or, for comparison, with Koopmans' own. Shipped nodes admit one visitor
 * at a time only when one slot is free, and otherwise by counting, ten times a second: the number of messages depends on the
 * nodes and not on the visitors, and a decision reaches one node some tens of milliseconds before another. With Koopmans'
 * settings every visitor is admitted by a separate `deleteMin`, once a second as many as there is room for, and a node that
 * cannot be reached counts as dead at once. No setting of Fairgate does the first of these.
 *
 * Ours is a different kind of waiting room in both cases: nobody waits while there is room, where Koopmans lets people out of the
 * queue once a second; and instead of a pass that expires at once, the visitor leaves at once, since ours must reach a second
 * node before it is given out. With more users than Koopmans had, they stay on the site for a while (`comparison.ts`), since
 * there would hardly be a line otherwise.
 *
 * Time is measured as in Koopmans' simulation: from the first arrival until arrivals have ended and everyone is in. *Tau* is the
 * normalised Kendall tau distance: the share of pairs in which the later to join was the earlier to be admitted. Ours compares
 * the instants at which nodes were asked with those at which any node first reported a turn or a way straight through
 * (`tunnel/checks/order.ts`); Koopmans' (sections 2.2 and 6.1.3) the millisecond steps at which a user entered the queue and was
 * taken out of it at their node. Both are orders in time seen from outside, over all pairs, so they are comparable. Ours is
 * stricter for visitors who go straight through where there is a limit: they are reported only after another node has them in its
 * log.
 *
 * About ties Koopmans' text says nothing; the published program counts a pair that is tied in only one order as wrong. Ours:
 * users who arrived in the same millisecond are no pair, and turns that a node gives together are in the order in which it
 * reports them.
 */
import { DEFAULT_RULES } from "../../core/rules.ts";
import { Capacity } from "../tunnel/checks/capacity.ts";
import { Once } from "../tunnel/checks/once.ts";
import { OneRoot } from "../tunnel/checks/one-root.ts";
import { Order } from "../tunnel/checks/order.ts";
import { between, diceOf, oneOf, type Range } from "../tunnel/dice.ts";
import { Faults } from "../tunnel/faults.ts";
import { FORM_MS } from "../tunnel/run.ts";
import { NODE_SETTINGS } from "../tunnel/sim-node.ts";
import { patientAt, type Traits } from "../tunnel/traits.ts";
import { type Failure, Tunnel } from "../tunnel/tunnel.ts";
import { Decisions } from "./decisions.ts";
import type { Configuration } from "./koopmans-table.ts";
import { refreshingNode } from "./refreshing-node.ts";

const REFRESH_MS = 600;
/** Koopmans' Table 6.1, and section 2.3: an unreachable node is dead. */
const KOOPMANS_NODE: Partial<typeof NODE_SETTINGS> = {
  intervalMs: 1_000,
  oneByOneMax: Number.POSITIVE_INFINITY,
  swim: { ...NODE_SETTINGS.swim, periodMs: 500, ackTimeoutMs: 200 },
  reclaimAfterMs: 0,
};
const LATENCY_MS: Range = { from: 10, to: 20 };
const NODES = 8;
export const SPAN_MS = 100_000;

/** Turns, places and passes outlast the time after which a user asks again when an answer died with its node. */
const FORGIVEN_MS = 10_000;
const START_EVERY_MS = 20;
const PROGRESS_EVERY_MS = 1_000;
/** After this long, visitors who are not in will not get in. */
const DRAIN_MAX_MS = 1_800_000;

/** What Koopmans leaves out: that network loses nothing and its clocks agree. */
export interface NetworkTrouble {
  readonly loss: number;
  /** The largest difference between two clocks. */
  readonly skewMs: number;
  /** How often the cluster is cut into two parts, and for how long. */
  readonly partitions: number;
  readonly partitionMs: Range;
}

export interface Experiment extends Configuration {
  readonly seed: number;
  /** Of the nodes: as shipped, or Koopmans', which no setting allows. */
  readonly settings: "shipped" | "koopmans";
  readonly nodes?: number;
  /** How long users arrive and nodes change. */
  readonly spanMs?: number;
  readonly trouble?: NetworkTrouble;
}

export interface ExperimentResult {
  readonly seed: number;
  readonly tau: number;
  /** The same by the instants in the passes: those of one round are tied. */
  readonly tauDecided: number;
  readonly timeMs: number;
  /** How many did not go straight through. */
  readonly waited: number;
  readonly letIn: number;
  /** Nodes that were added while users arrived, and removed. */
  readonly added: number;
  readonly removed: number;
  /** Since the first node's start. */
  readonly simulatedMs: number;
  /** null: no check complained. */
  readonly failure: Failure | null;
}

/** Runs an experiment; the same one always gives the same result. `progress` is called every simulated second. */
export function runExperiment(
  experiment: Experiment,
  progress: (simulatedMs: number) => void = () => {},
): ExperimentResult {
  const order = new Order(null);
  const decisions = new Decisions();
  const tunnel = tunnelFor(experiment, [order, decisions]);
  const { spanMs = SPAN_MS } = experiment;
  form(tunnel, experiment);
  invite(tunnel, experiment, spanMs);
  change(tunnel, experiment, spanMs);
  part(tunnel, experiment, spanMs);
  pass(tunnel, FORM_MS + spanMs, progress);
  drain(tunnel, progress);
  const entered = tunnel.crowd.all.flatMap(({ enteredAt }) => (enteredAt === null ? [] : [enteredAt]));
  const lastAt = entered.reduce((last, at) => Math.max(last, at), FORM_MS + spanMs);
  return {
    seed: experiment.seed,
    tau: order.figures().tau,
    tauDecided: decisions.tau(),
    timeMs: Math.round(lastAt - FORM_MS),
    waited: decisions.waited,
    letIn: entered.length,
    added: tunnel.stations.length - (experiment.nodes ?? NODES),
    removed: tunnel.stations.filter(({ isUp }) => !isUp).length,
    simulatedMs: Math.round(tunnel.time),
    failure: tunnel.failure,
  };
}

function tunnelFor(
  { seed, target, trouble, settings }: Experiment,
  books: readonly [Order, Decisions],
): Tunnel {
  const isKoopmans = settings === "koopmans";
  const capacity = new Capacity({
    totalActiveUsers: target ?? Number.POSITIVE_INFINITY,
    sessionMs: FORGIVEN_MS,
    isOverlapStated: isKoopmans,
  });
  return new Tunnel({
    seed,
    makeNode: refreshingNode(REFRESH_MS),
    rules: {
      ...DEFAULT_RULES,
      totalActiveUsers: target,
      sessionDurationMs: FORGIVEN_MS,
      claimWindowMs: FORGIVEN_MS,
      lapseAfterMs: FORGIVEN_MS,
    },
    ...(isKoopmans && { node: KOOPMANS_NODE }),
    weather: { delayMs: LATENCY_MS, loss: trouble?.loss ?? 0, duplication: 0, reorder: 0, reorderUpToMs: 0 },
    visitorDelayMs: { from: 0, to: 0 },
    checks: [...books, capacity, new Once(), new OneRoot()],
  });
}

function form(tunnel: Tunnel, experiment: Experiment): void {
  const { nodes = NODES } = experiment;
  for (let i = 0; i < nodes; i++)
    tunnel.loop.at(i * START_EVERY_MS, () => tunnel.addNode(clockOf(experiment, i)));
  tunnel.runUntil(FORM_MS);
}

/** As with Koopmans, a user learns of a turn only by refreshing. */
const USER: Traits = { ...patientAt(0, 0), station: null, isListening: false };

function invite({ crowd }: Tunnel, { seed, users, stayMs = 0 }: Experiment, spanMs: number): void {
  for (let i = 0; i < users; i++) {
    const dice = diceOf(seed, "coming", i);
    crowd.expect({ ...USER, stayMs }, FORM_MS + Math.floor(dice() * spanMs));
  }
}

function change(tunnel: Tunnel, experiment: Experiment, spanMs: number): void {
  const { seed, changed } = experiment;
  for (let i = 0; i < changed; i++) {
    const dice = diceOf(seed, "change", i);
    const [addedAt, removedAt, whom] = [dice(), dice(), dice()];
    tunnel.loop.at(FORM_MS + Math.floor(addedAt * spanMs), () =>
      tunnel.addNode(clockOf(experiment, tunnel.stations.length)),
    );
    tunnel.loop.at(FORM_MS + Math.floor(removedAt * spanMs), () => cutPower(tunnel, whom));
  }
}

function cutPower(tunnel: Tunnel, whom: number): void {
  const up = tunnel.stations.filter(({ isUp }) => isUp);
  if (up.length < 2) return;
  const station = oneOf(() => whom, up);
  station.isRetired = true;
  tunnel.crash(station);
}

function part(tunnel: Tunnel, experiment: Experiment, spanMs: number): void {
  const { seed, trouble } = experiment;
  const faults = new Faults(tunnel, { seed, clockOf: (index) => clockOf(experiment, index) });
  for (let number = 1; number <= (trouble?.partitions ?? 0); number++) {
    const dice = diceOf(seed, "parting", number);
    const forMs = between(dice, trouble!.partitionMs);
    const at = FORM_MS + dice() * (spanMs - forMs);
    const incident = {
      name: `partition.${number}`,
      kind: "partition" as const,
      number,
      at,
      forMs,
      sizeMs: 0,
    };
    tunnel.loop.at(at, () => faults.begin(incident));
  }
}

function clockOf({ seed, trouble }: Experiment, index: number): { skewMs: number; driftPpm: number } {
  const share = between(diceOf(seed, "clock", index), { from: -0.5, to: 0.5 });
  return { skewMs: Math.round(share * (trouble?.skewMs ?? 0)), driftPpm: 0 };
}

function pass(tunnel: Tunnel, until: number, progress: (simulatedMs: number) => void): void {
  while (tunnel.time < until && !tunnel.failure) {
    tunnel.runUntil(Math.min(until, tunnel.time + PROGRESS_EVERY_MS));
    progress(tunnel.time);
  }
}

function drain(tunnel: Tunnel, progress: (simulatedMs: number) => void): void {
  const until = tunnel.time + DRAIN_MAX_MS;
  while (tunnel.crowd.wanting > 0 && !tunnel.failure) {
    pass(tunnel, tunnel.time + PROGRESS_EVERY_MS, progress);
    if (tunnel.time >= until) tunnel.fail("everyone in", `${tunnel.crowd.wanting} users are not let in`);
  }
}
