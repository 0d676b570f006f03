/**
 * `fairgate torture --seed N`: simulates a whole cluster with visitors and faults from one random seed, hundreds of times
 * faster than real time. The same seed gives the same run, and the same hash, on any machine.
 *
 * When a promise is broken, it prints the promise, the seed, and the command with the smallest options found that still
 * break it. With `--canary` a rule is broken on purpose, and enough seeds of a suitable plan are run that the checks surely
 * notice; flags choose another plan or number of runs.
 *
 * Exit codes: 0 all promises held, 1 one did not, 2 the command is not right.
 */

import { safeText } from "../config/problem.ts";
import {
  CANARIES,
  CANARY_PLANS,
  CANARY_SEEDS_MAX,
  type CanaryPlan,
  isCanary,
} from "../sim/tunnel/canaries.ts";
import { FAULT_KINDS } from "../sim/tunnel/fault-kinds.ts";
import { PLAN_KINDS, type PlanKind, type PlanOptions, planOf, SWITCHES } from "../sim/tunnel/plan.ts";
import { forPeople, forPrograms, type SeedRun } from "../sim/tunnel/report.ts";
import { runPlan } from "../sim/tunnel/run.ts";
import { type Shrunk, shrink } from "../sim/tunnel/shrink.ts";
import type { MakeNode } from "../sim/tunnel/sim-node.ts";
import { type Progress, progressHere } from "./progress.ts";

const RUNS_MAX = 1_000_000;
const NODES_MAX = 64;
const VISITORS_MAX = 1_000_000;
const SECONDS_MAX = 3_600;
const SHOWN_CHARACTERS_MAX = 60;

export interface SeedOptions {
  /** Left out with a canary: 1. */
  readonly seed?: number;
  /** How many seeds to run, one after the other. */
  readonly runs?: number;
  readonly kind?: string;
  readonly nodes?: number;
  readonly visitors?: number;
  readonly seconds?: number;
  /** Faults, incidents and kinds of visitors, separated by commas. */
  readonly without?: string;
  readonly canary?: string;
  /** Each run is made a second time, with messages copied as by a wire, and must be the same. */
  readonly checkLetters?: boolean;
  /** Prints every event. */
  readonly trace?: boolean;
  readonly json?: boolean;
}

/** Where words go. */
export interface SeedOutput {
  out(text: string): void;
  error(text: string): void;
  /** Milliseconds, for how long it took. */
  now(): number;
  readonly progress: Progress;
}

/** Runs, prints, and says with which exit code to end. */
export async function runSeed(options: SeedOptions): Promise<number> {
  return runSeedWith(options, await nodesFor(options), outputHere());
}

/** Nodes as they are, or ones that break a rule. Imported when they are needed, since most commands have no use for a cluster. */
async function nodesFor({ canary }: SeedOptions): Promise<MakeNode> {
  if (canary === undefined || !isCanary(canary)) return (await import("../sim/tunnel/real-node.ts")).realNode;
  return (await import("../sim/tunnel/real-node.ts")).brokenNode(canary);
}

/** The same with nodes of one's own making; a canary names the rule that they break. */
export function runSeedWith(options: SeedOptions, makeNode: MakeNode, output: SeedOutput): number {
  const wrong = problemOf(options);
  if (wrong !== null) {
    if (options.json) output.out(`${JSON.stringify({ ok: false, error: wrong }, null, 2)}\n`);
    else output.error(`${wrong}\n`);
    return 2;
  }
  const runs: SeedRun[] = [];
  for (const planOptions of allOf(options)) {
    runs.push(runOnce(planOptions, { options, makeNode, output }));
    const told = `${runs.length} of ${runsOf(options)} seeds run`;
    output.progress.tell(told);
    if (runs.at(-1)!.result.failure) break;
  }
  const smallest = smallestOf(runs.at(-1)!, makeNode, output);
  output.progress.end();
  output.out(
    `${options.json ? JSON.stringify(forPrograms(runs, smallest), null, 2) : forPeople(runs, smallest) + canaryText(options, smallest)}\n`,
  );
  // A rule that was broken and not seen is a failure of the checks.
  return smallest || options.canary !== undefined ? 1 : 0;
}

function problemOf(options: SeedOptions): string | null {
  const numbers: [name: string, value: number | undefined, most: number][] = [
    ["--seed", options.seed, Number.MAX_SAFE_INTEGER],
    ["--runs", options.runs, RUNS_MAX],
    ["--nodes", options.nodes, NODES_MAX],
    ["--visitors", options.visitors, VISITORS_MAX],
    ["--seconds", options.seconds, SECONDS_MAX],
  ];
  for (const [name, value, most] of numbers) {
    const least = name === "--seed" ? 0 : 1;
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least && value <= most))
      return `${name} is a whole number from ${least} to ${most.toLocaleString("en")}, not ${value}.`;
  }
  if (options.kind !== undefined && !Object.hasOwn(PLAN_KINDS, options.kind))
    return `There is no kind of plan "${shown(options.kind)}". There are: ${Object.keys(PLAN_KINDS).join(", ")}.`;
  if (options.canary !== undefined && !isCanary(options.canary))
    return `There is no canary "${shown(options.canary)}". There are: ${CANARIES.join(", ")}.`;
  const unknown = namesIn(options).find((name) => !isSwitch(name));
  if (unknown === undefined) return null;
  return `Nothing is called "${shown(unknown)}" that could be left out. There are: ${SWITCHES.join(", ")}; and single incidents, such as crash.1.`;
}

function shown(text: string): string {
  return safeText(text, SHOWN_CHARACTERS_MAX);
}

function isSwitch(name: string): boolean {
  const [kind = "", number = ""] = name.split(".");
  const isIncident = (FAULT_KINDS as readonly string[]).includes(kind) && /^[1-9][0-9]?$/.test(number);
  return SWITCHES.includes(name) || isIncident;
}

function namesIn({ without = "" }: SeedOptions): string[] {
  return without
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function* allOf(options: SeedOptions): Generator<PlanOptions> {
  const { kind, nodes, visitors, seconds, canary } = options;
  const own = canaryPlan(options);
  const seed = options.seed ?? own?.firstSeed ?? 1;
  const given = {
    ...own?.plan,
    ...(kind !== undefined && { kind: kind as PlanKind }),
    ...(nodes !== undefined && { nodes }),
    ...(visitors !== undefined && { visitors }),
    ...(seconds !== undefined && { seconds }),
    ...(canary !== undefined && { canary }),
    ...(options.without !== undefined && { without: namesIn(options) }),
  };
  for (let i = 0; i < runsOf(options); i++) yield { ...given, seed: seed + i };
}

function runsOf({ runs, canary }: SeedOptions): number {
  return runs ?? (canary === undefined ? 1 : CANARY_SEEDS_MAX);
}

/** The plan in which a canary shows, where none is asked for. */
function canaryPlan(options: SeedOptions): CanaryPlan | null {
  const { canary, kind, nodes, visitors, seconds, without } = options;
  const isPlanGiven = [kind, nodes, visitors, seconds, without].some((value) => value !== undefined);
  return canary === undefined || !isCanary(canary) || isPlanGiven ? null : CANARY_PLANS[canary];
}

function canaryText({ canary }: SeedOptions, smallest: Shrunk | null): string {
  if (canary === undefined) return "";
  return smallest
    ? `\nThe rule was broken on purpose (${canary}), and that was found.`
    : `\nThe rule was broken on purpose (${canary}), and that was not found. Without a plan of your own it is.`;
}

interface Means {
  readonly options: SeedOptions;
  readonly makeNode: MakeNode;
  readonly output: SeedOutput;
}

function runOnce(planOptions: PlanOptions, { options, makeNode, output }: Means): SeedRun {
  const plan = planOf(planOptions);
  const startedAt = output.now();
  const print = options.trace ? (line: string) => output.out(`${line}\n`) : null;
  const result = runPlan(plan, { makeNode, print });
  const realMs = output.now() - startedAt;
  if (!options.checkLetters || result.failure) return { options: planOptions, plan, result, realMs };
  const copied = runPlan(plan, { makeNode, messages: "copied" });
  const isSame = copied.hash === result.hash;
  const text = `with messages copied the hash is ${copied.hash}, without it is ${result.hash}: nodes share something`;
  const failure = copied.failure ?? (isSame ? null : { check: "messages", at: 0, text });
  return { options: planOptions, plan, result: { ...result, failure }, realMs };
}

function smallestOf({ options, result }: SeedRun, makeNode: MakeNode, output: SeedOutput): Shrunk | null {
  if (!result.failure) return null;
  if (result.failure.check === "messages") return { options, runs: 0 };
  let runs = 0;
  return shrink(options, (plan) => {
    output.progress.tell(`seed ${options.seed} fails; looking for the smallest way, ${++runs} runs so far`);
    return runPlan(plan, { makeNode }).failure?.check ?? null;
  });
}

function outputHere(): SeedOutput {
  return {
    out: (text) => void process.stdout.write(text),
    error: (text) => void process.stderr.write(text),
    now: () => performance.now(),
    progress: progressHere(),
  };
}
