/**
 * The play before a cluster: nodes as processes of their own, a crowd that sends each request to a random node, and whatever the
 * test does to the nodes meanwhile. The books are kept outside: what visitors were told, and which visitors the site saw.
 *
 *   the first node creates the cluster ─▶ the others join ─▶ a crowd, until there is a line ─▶ what the test does
 *   ─▶ everyone gets in ─▶ what is over is shown once more
 */
import assert from "node:assert/strict";
import { seededFraction } from "../../src/sim/hand-world.ts";
import { eventually, GIVE_UP_MS } from "../../src/testing/cli/eventually.ts";
import type { Violation } from "../crash/books.ts";
import { Crowd } from "../crash/crowd.ts";
import { GuestBook } from "../crash/guest-book.ts";
import { ClusterBooks, type ClusterSummary } from "./cluster-books.ts";
import { Network } from "./network.ts";
import { NodeProcess } from "./node-process.ts";

const TERMS = {
  ...{ capacity: 30, sessionMs: 10_000, lapseAfterMs: 10_000 },
  ...{ ticketTtlMs: 24_000, claimWindowMs: 13_000 },
};
/**
 * Passes are not renewed: a pass renewed in one part of a cluster that is cut in two would hold a slot that the other part does
 * not know of. No visitor is told to stay away for longer than half a ticket's life, and a turn lasts longer than that, so
 * visitors who come back as told do not miss theirs.
 */
const ROOM = {
  totalActiveUsers: TERMS.capacity,
  sessionDuration: `${TERMS.sessionMs}ms`,
  disableSessionRenewal: true,
  lapseAfter: `${TERMS.lapseAfterMs}ms`,
  claimWindow: `${TERMS.claimWindowMs}ms`,
  ticketTtl: `${TERMS.ticketTtlMs}ms`,
};
const ARRIVALS_PER_SECOND = 25;
const AT_ONCE_MAX = 52;
/** Visitors present when the test begins: a full site, and a line before it. */
const ABOUT_MIN = 44;
/** A visitor who gets no answer for this long asks another node. It is longer than a node waits for a dead one. */
const PATIENCE_MS = 5_000;
/** Nodes learn of each other's visitors within a few tenths of a second; a busy machine may take this long. */
const SPREAD_MAX_MS = 5_000;
/**
 * How far the order of admission may differ from that of joining, overall and while nothing was wrong; kill-and-cut.ts says why.
 * On an idle machine both stay below a tenth of this.
 */
const TAU_MAX = 0.1;
const OVERTAKING_MAX_MS = 5_000;
const WARNING = 40;
const COMPLAINTS_MAX = 15;

export interface ClusterPlan {
  readonly seed: number;
  readonly nodes: number;
  /** Nodes that are not started at first; visitors know their addresses. */
  readonly spares?: number;
  /** True: each node is a cluster of its own, to see that the books notice. */
  readonly isApart?: boolean;
  readonly drainMs?: number;
}

export interface ClusterScene extends Stage {
  readonly crowd: Crowd;
  /** Marks every place as at stake; called when something happened to a node. */
  atStake(): void;
  /** Kills a node with -9; every place is at stake. */
  kill(node: NodeProcess): Promise<void>;
  /** Adds something to do when the last visitor is through. */
  afterwards(todo: () => Promise<unknown>): void;
  /** Called when all nodes are one cluster again. */
  calm(): void;
  /** Visitors seen on the site so far, by the site's own book. */
  seen(): number;
  /** The violations in the books so far. */
  violations(): readonly Violation[];
}

/** What is done to the nodes while the crowd is there. */
export type Fault = (scene: ClusterScene) => Promise<void>;

export interface ClusterOutcome extends ClusterSummary {
  /** The most visitors on the site at once, by the site's own book. */
  readonly highestAtOrigin: number;
  /** Visitors who could not go on, and why; explained by the books where they can. */
  readonly failures: readonly string[];
  /** Seconds since the beginning: when there was a line, when the test had done its part, and when everyone was through. */
  readonly seconds: readonly number[];
}

export async function clusterPlay(plan: ClusterPlan, fault: Fault): Promise<ClusterOutcome> {
  const from = Date.now();
  await using parts = new AsyncDisposableStack();
  const stage = await makeStage(plan, parts);
  try {
    await startAll(stage.nodes, plan.isApart ?? false);
    return await play({ plan, stage, fault, parts, from });
  } catch (cause) {
    throw new Error(`${cause}; the nodes said:\n${complaintsOf([...stage.nodes, ...stage.spares])}`, {
      cause,
    });
  }
}

/** What must hold after every play, whatever was done to the nodes. */
export function assertKept(outcome: ClusterOutcome): void {
  const { violations, failures, ...numbers } = outcome;
  const said = JSON.stringify(numbers);
  assert.deepEqual(violations, []);
  assert.deepEqual(failures, [], said);
  assert.ok(numbers.highestAtOrigin <= numbers.capacity, said);
  assert.equal(numbers.placesKept, numbers.placesAtStake, said);
  assert.ok(numbers.tau <= TAU_MAX && numbers.overtakingMs <= OVERTAKING_MAX_MS, said);
  assert.ok(numbers.placesAtStake > 0 && numbers.shownAgain > 0 && numbers.undisturbed > 0, said);
  assert.ok(numbers.passes > 2 * numbers.capacity, said);
}

/** True when exactly these nodes are one cluster, and each of them knows all that the others know. */
export async function areOne(nodes: readonly NodeProcess[]): Promise<boolean> {
  const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name).toSorted();
  const reports = await Promise.all(nodes.map((node) => node.report()));
  return reports.every(({ view, nodes: members, lost }) => {
    const isSame = namesOf(members).join() === namesOf(nodes).join();
    return view?.isSettled === true && isSame && lost.length === 0;
  });
}

interface Stage {
  readonly site: GuestBook;
  readonly network: Network;
  readonly nodes: readonly NodeProcess[];
  readonly spares: readonly NodeProcess[];
}

async function makeStage(plan: ClusterPlan, parts: AsyncDisposableStack): Promise<Stage> {
  const site = parts.use(await GuestBook.open());
  const network = parts.use(new Network());
  const all: NodeProcess[] = [];
  for (let i = 1; i <= plan.nodes + (plan.spares ?? 0); i++) {
    const options = { name: `gate-${i}`, origin: site.address, room: ROOM, network };
    all.push(parts.use(await NodeProcess.make(options)));
  }
  return { site, network, nodes: all.slice(0, plan.nodes), spares: all.slice(plan.nodes) };
}

async function startAll(nodes: readonly NodeProcess[], isApart: boolean): Promise<void> {
  const [first, ...others] = nodes;
  await first!.start();
  await Promise.all(others.map((node) => node.start(isApart ? [] : [first!])));
  if (!isApart) await eventually("all are one cluster", () => areOne(nodes));
}

interface Play {
  readonly plan: ClusterPlan;
  readonly stage: Stage;
  readonly fault: Fault;
  readonly parts: AsyncDisposableStack;
  readonly from: number;
}

async function play({ plan, stage, fault, parts, from }: Play): Promise<ClusterOutcome> {
  const { site, nodes, spares } = stage;
  const seconds: number[] = [];
  const tick = () => seconds.push((Date.now() - from) / 1_000);
  const books = new ClusterBooks(TERMS);
  const crowd = new Crowd({
    addresses: [...nodes, ...spares].map(({ address }) => address),
    ...{ books, fraction: seededFraction(plan.seed), patienceMs: PATIENCE_MS },
    ...{ sessionMs: TERMS.sessionMs, spreadMs: SPREAD_MAX_MS },
    ...{ arrivalsPerSecond: ARRIVALS_PER_SECOND, atOnceMax: AT_ONCE_MAX },
  });
  parts.defer(() => crowd.close());
  const seen = () => site.stays.size;
  await eventually("there is a line", () => crowd.about >= ABOUT_MIN && seen() >= TERMS.capacity);
  tick();
  const atStake = () => books.note({ kind: "killed", at: Date.now() });
  const kill = async (node: NodeProcess) => {
    const at = Date.now();
    await node.end("SIGKILL");
    books.note({ kind: "killed", at, address: node.address });
  };
  const calm = () => books.calm(Date.now());
  const lastly: (() => Promise<unknown>)[] = [];
  const afterwards = (todo: () => Promise<unknown>) => void lastly.push(todo);
  await fault({ ...stage, crowd, atStake, kill, afterwards, calm, seen, violations: () => books.violations });
  await eventually("many have been in", () => books.passes > 2 * TERMS.capacity);
  tick();
  const failure = await crowd.drain(plan.drainMs ?? GIVE_UP_MS).then(
    () => [],
    (cause: unknown) => [String(cause)],
  );
  tick();
  await Promise.all(lastly.map((todo) => todo()));
  await crowd.showAgain();
  return {
    ...books.close(Date.now()),
    highestAtOrigin: site.highestAtOnce(),
    failures: [...crowd.failures.map(String), ...failure],
    seconds,
  };
}

/** The last warnings of each node, for debugging. */
function complaintsOf(nodes: readonly NodeProcess[]): string {
  return nodes
    .flatMap((node) => {
      const lines = node.log().filter(({ level }) => level >= WARNING);
      const logged = lines.slice(-COMPLAINTS_MAX).map((line) => `${node.name}: ${JSON.stringify(line)}`);
      const words = node.lastWords();
      return words === "" ? logged : [...logged, `${node.name}: ${words}`];
    })
    .join("\n");
}
