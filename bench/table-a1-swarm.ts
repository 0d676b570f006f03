/**
 * Many seeds of the wind tunnel, over all kinds of plan, on as many threads as the machine has cores: and which of them break a
 * promise. Each thread runs this file, too.
 */
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type PlanOptions, planOf } from "../src/sim/tunnel/plan.ts";
import { realNode } from "../src/sim/tunnel/real-node.ts";
import { runPlan } from "../src/sim/tunnel/run.ts";

const THREADS_MAX = 8;

export interface Swarm {
  /** From 1 on. */
  readonly seeds: number;
  /** Options that replace what a random seed draws. */
  readonly sizes: Omit<PlanOptions, "seed">;
}

export interface SwarmRun {
  readonly seed: number;
  readonly simulatedMs: number;
  /** The promise that was broken. null: none. */
  readonly broken: string | null;
}

interface Share extends Swarm {
  /** This thread's first seed, and how many threads there are. */
  readonly from: number;
  readonly step: number;
}

/** In order of seeds. */
export async function runSwarm(swarm: Swarm, progress: (done: number) => void): Promise<SwarmRun[]> {
  const threads = Math.min(availableParallelism(), THREADS_MAX);
  const runs: SwarmRun[] = [];
  const shares = Array.from({ length: threads }, (_, i): Share => ({ ...swarm, from: i + 1, step: threads }));
  await Promise.all(shares.map((share) => runShare(share, (run) => progress(runs.push(run)))));
  return runs.sort((a, b) => a.seed - b.seed);
}

function runShare(share: Share, onRun: (run: SwarmRun) => void): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: share });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  worker.on("message", onRun);
  worker.on("error", reject);
  worker.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`a thread ended with ${code}`))));
  return promise;
}

function work({ seeds, sizes, from, step }: Share): void {
  for (let seed = from; seed <= seeds; seed += step) {
    const { failure, figures } = runPlan(planOf({ ...sizes, seed }), { makeNode: realNode });
    const run: SwarmRun = { seed, simulatedMs: figures.simulatedMs, broken: failure?.check ?? null };
    parentPort!.postMessage(run);
  }
}

if (!isMainThread) work(workerData as Share);
