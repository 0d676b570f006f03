/**
 * Pluijmaekers' first functional test (section 5.4.1) at a multiple of its load, in the tunnel: customers arrive by the same sigmoid
 * over 232 seconds, stay for three, and are let in from four nodes up to the same limits, each that many times as large.
 *
 *     node bench/servers/paper-rush.ts SCALE
 */
import { DEFAULT_RULES } from "../../src/core/rules.ts";
import { Capacity } from "../../src/sim/tunnel/checks/capacity.ts";
import { Once } from "../../src/sim/tunnel/checks/once.ts";
import { OneRoot } from "../../src/sim/tunnel/checks/one-root.ts";
import { Order } from "../../src/sim/tunnel/checks/order.ts";
import { Rate } from "../../src/sim/tunnel/checks/rate.ts";
import { diceOf } from "../../src/sim/tunnel/dice.ts";
import { realNode } from "../../src/sim/tunnel/real-node.ts";
import { FORM_MS } from "../../src/sim/tunnel/run.ts";
import { patientAt, type Traits } from "../../src/sim/tunnel/traits.ts";
import { Tunnel } from "../../src/sim/tunnel/tunnel.ts";

const STEPS = 232;
const STEP_MS = 1_000;
const INSIDE_MAX = 20;
const PER_MINUTE = 300;
const BROWSING_MS = 3_000;
const NODES = 4;
const START_EVERY_MS = 20;
const SESSION_MS = 30_000;
/** After this long, whoever is not in will not get in. */
const DRAIN_MAX_MS = 1_800_000;
const SEED = 1;

export interface PaperRush {
  readonly customers: number;
  readonly letIn: number;
  readonly waited: number;
  readonly peakPerSecond: number;
  readonly insideMax: number;
  /** Normalised Kendall tau distance between arriving and being let in; and how many places anybody was from theirs. */
  readonly tau: number;
  readonly displacement: number;
  readonly failure: string | null;
  readonly simulatedS: number;
  readonly realS: number;
}

/** How many have come by a step, as in the paper. */
const arrived = (step: number) => 520 * Math.tanh((step - 120) / 60) + 502;

function play(scale: number): PaperRush {
  const startedAt = performance.now();
  const rules = {
    ...DEFAULT_RULES,
    totalActiveUsers: INSIDE_MAX * scale,
    newUsersPerMinute: PER_MINUTE * scale,
    sessionDurationMs: SESSION_MS,
  };
  const order = new Order(null);
  const capacity = new Capacity({
    totalActiveUsers: rules.totalActiveUsers,
    sessionMs: SESSION_MS,
    isOverlapStated: false,
  });
  const tunnel = new Tunnel({
    ...{ seed: SEED, makeNode: realNode, rules },
    weather: { delayMs: { from: 1, to: 5 }, loss: 0, duplication: 0, reorder: 0, reorderUpToMs: 0 },
    visitorDelayMs: { from: 2, to: 40 },
    checks: [order, capacity, new Once(), new OneRoot(), new Rate(rules)],
    eventsMax: Number.POSITIVE_INFINITY,
  });
  for (let i = 0; i < NODES; i++) tunnel.loop.at(i * START_EVERY_MS, () => tunnel.addNode());
  tunnel.runUntil(FORM_MS);
  const customer: Traits = { ...patientAt(0, BROWSING_MS), station: null };
  let [customers, peakPerSecond] = [0, 0];
  const dice = diceOf(SEED, "coming");
  for (let step = 1; step <= STEPS; step++) {
    const coming = Math.floor(scale * (arrived(step) - arrived(step - 1)) + 0.5);
    const at = FORM_MS + (step - 1) * STEP_MS;
    for (let i = 0; i < coming; i++) tunnel.crowd.expect(customer, at + Math.floor(dice() * STEP_MS));
    customers += coming;
    peakPerSecond = Math.max(peakPerSecond, coming);
  }
  const until = FORM_MS + STEPS * STEP_MS;
  for (let at = tunnel.time; at < until; at += STEP_MS) {
    tunnel.runUntil(at + STEP_MS);
    if (!process.stderr.isTTY) continue;
    const letIn = tunnel.crowd.all.filter(({ enteredAt }) => enteredAt !== null).length;
    process.stderr.write(
      `\r${Math.round(at / STEP_MS)} s of ${until / STEP_MS}: ${letIn} of ${customers} are in `,
    );
  }
  const isIn = () => tunnel.crowd.all.every(({ enteredAt }) => enteredAt !== null);
  for (let at = tunnel.time; at < until + DRAIN_MAX_MS && !isIn() && !tunnel.failure; at += STEP_MS)
    tunnel.runUntil(at + STEP_MS);
  const { tau, displacement } = order.figures();
  const entered = tunnel.crowd.all.filter(({ enteredAt }) => enteredAt !== null);
  return {
    customers,
    letIn: entered.length,
    waited: order.figures().counted,
    peakPerSecond,
    insideMax: capacity.most,
    tau,
    displacement,
    failure: tunnel.failure && `${tunnel.failure.check}: ${tunnel.failure.text}`,
    simulatedS: Math.round(tunnel.time / STEP_MS),
    realS: Math.round((performance.now() - startedAt) / STEP_MS),
  };
}

console.log(JSON.stringify(play(Number(process.argv[2]))));
