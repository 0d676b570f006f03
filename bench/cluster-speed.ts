/**
 * How many users a second get through a cluster of node processes on one machine, as in section 6.2 of the paper
 * (Koopmans 2024), beside what it measured there: 5,000 users, up to 500 at once, with 3, 8 and 16 nodes on two virtual
 * cores, everyone over HTTP, the users on another machine. Here the users share the nodes' cores.
 *
 * The headline is that of the line itself: users speak lines of text, which cost next to nothing, with nodes whose
 * engine and transport are the real ones. With HTTP, tokens and event streams in front most of the time goes into
 * those, so that is measured by itself, beside a single gateway that has its line in memory.
 *
 * Nodes are run warm first, but for the one row that says otherwise.
 */
import { type Row, row } from "./bench.ts";
import { startOneOfMany } from "./child.ts";
import { ClusterNodes } from "./cluster-nodes.ts";
import { letThrough, type Passage, type Users, usersByHttp, usersByLine } from "./cluster-users.ts";

const USERS = 5_000;
const AT_ONCE = 500;
const SLOTS = 500;
/** The paper's table 6.2, users a second by nodes. */
const PAPER = [
  { count: 3, perSecond: 36.3 },
  { count: 8, perSecond: 33.4 },
  { count: 16, perSecond: 23.4 },
] as const;
const TIMES_THE_PAPER_MIN = 100;
/** With 16 nodes, of what it is with 3. The paper's: 0.64. */
const KEPT_MIN = 0.67;
const HTTP_NODES = 3;
const HTTP_CONNECTIONS = 40;

interface Runs {
  readonly warmUps: number;
  readonly measured: number;
}

interface Speed {
  readonly first: Passage;
  readonly best: Passage;
  /** Processor time of all nodes for one user, where it was least. */
  readonly spentUs: number;
  readonly unfairness: number;
}

export async function speedRows(isQuick: boolean, progress: (text: string) => void): Promise<Row[]> {
  const runs: Runs = isQuick ? { warmUps: 1, measured: 2 } : { warmUps: 4, measured: 6 };
  const found: Speed[] = [];
  for (const { count } of PAPER) {
    progress(`${count} nodes`);
    found.push(await speedOf(count, runs));
  }
  return [...lineRows(found), ...(isQuick ? [] : await httpRows(runs, progress))];
}

function lineRows(found: readonly Speed[]): Row[] {
  const few = found[0]!;
  const many = found.at(-1)!;
  const cores = "processor time of a user, all nodes";
  return [
    ...PAPER.map(({ count, perSecond }, index) =>
      row({
        name: `${count} nodes, beside the paper's`,
        unit: "users/s",
        value: found[index]!.best.perSecond,
        baseline: perSecond,
        ...(index === 0 && { goal: { of: "ratio", atLeast: TIMES_THE_PAPER_MIN } }),
      }),
    ),
    row({
      name: "16 nodes, beside 3",
      unit: "users/s",
      value: many.best.perSecond,
      baseline: few.best.perSecond,
      goal: { of: "ratio", atLeast: KEPT_MIN },
    }),
    row({
      name: "3 nodes, the first 5,000 after their start",
      unit: "users/s",
      value: few.first.perSecond,
      baseline: PAPER[0].perSecond,
    }),
    ...PAPER.map(({ count }, index) =>
      row({
        name: `${cores}, ${count} nodes beside 3`,
        unit: "µs",
        value: found[index]!.spentUs,
        baseline: few.spentUs,
      }),
    ),
    row({ name: "users who waited in line, 3 nodes", unit: "share", value: few.best.waited }),
    row({ name: "users who waited in line, 16 nodes", unit: "share", value: many.best.waited }),
    row({ name: "unfairness (Kendall tau), 16 nodes", unit: "", value: many.unfairness }),
  ];
}

async function speedOf(count: number, runs: Runs): Promise<Speed> {
  const nodes = await ClusterNodes.start({ server: "cluster-node", count, slots: SLOTS });
  const users = await usersByLine(nodes.ports);
  try {
    const first = await once(users);
    for (let n = 1; n < runs.warmUps; n++) await once(users);
    const passages: Passage[] = [];
    const spent: number[] = [];
    for (let n = 0; n < runs.measured; n++) {
      const before = await nodes.spentUs();
      passages.push(await once(users));
      spent.push(((await nodes.spentUs()) - before) / USERS);
    }
    const { unfairness } = await nodes.counts();
    return { first, best: bestOf(passages), spentUs: Math.min(...spent), unfairness };
  } finally {
    users.close();
    await nodes.stop();
  }
}

/** Over HTTP: a cluster, and one gateway with its line in memory, in turn. */
async function httpRows(runs: Runs, progress: (text: string) => void): Promise<Row[]> {
  progress("over HTTP");
  const nodes = await ClusterNodes.start({ server: "cluster-gateway", count: HTTP_NODES, slots: SLOTS });
  const alone = await startOneOfMany<{ port: number }>("cluster-gateway", ["", String(SLOTS), "memory"]);
  const there = await usersByHttp(nodes.ports, HTTP_CONNECTIONS);
  const here = await usersByHttp([alone.ready.port], HTTP_CONNECTIONS * HTTP_NODES);
  try {
    const ours: Passage[] = [];
    const memory: Passage[] = [];
    for (let n = 0; n < runs.warmUps + runs.measured; n++) {
      ours.push(await once(there));
      memory.push(await once(here));
    }
    const { perSecond, waited } = bestOf(ours.slice(runs.warmUps));
    const name = `over HTTP with tokens and event streams, ${HTTP_NODES} nodes`;
    return [
      row({
        name: `${name}, beside the paper's`,
        unit: "users/s",
        value: perSecond,
        baseline: PAPER[0].perSecond,
      }),
      row({
        name: "the same, beside one gateway with its line in memory",
        unit: "users/s",
        value: perSecond,
        baseline: bestOf(memory.slice(runs.warmUps)).perSecond,
      }),
      row({ name: "users who waited in line, over HTTP", unit: "share", value: waited }),
    ];
  } finally {
    there.close();
    here.close();
    await Promise.all([nodes.stop(), alone.stop()]);
  }
}

function once(users: Users): Promise<Passage> {
  return letThrough(users, { users: USERS, atOnce: AT_ONCE });
}

function bestOf(passages: readonly Passage[]): Passage {
  return passages.reduce((best, one) => (one.perSecond > best.perSecond ? one : best));
}
