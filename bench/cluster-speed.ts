/**
 * How many users a second get through a cluster of node processes on one machine, as in section 6.2 of the paper (Koopmans 2024),
 * beside what it measured there: 5,000 users, up to 500 at once, with 3, 8 and 16 nodes on two virtual cores, everyone over HTTP,
 * the users on another machine. Here the users share the nodes' cores.
 *
 * The headline is that of the line itself: users speak lines of text, which cost next to nothing, with nodes whose engine and
 * transport are the real ones. With HTTP, tokens and event streams in front, most of the time goes into those; that is measured
 * separately, beside a single gateway with its line in memory.
 *
 * With a slot for each of the 500, many users go straight through, which the paper's users never do. So everything is measured
 * again with fewer slots: then there is a line nearly all the time, and the rate of admission from it is measured.
 *
 * Nodes are warmed up first, except in the rows that say otherwise. The best of several runs counts. All of this is kinder to the
 * nodes than the paper was, so there are rows measured its way as well: over HTTP, users who poll as they are told, nodes started
 * anew for each run, and the mean time of three runs. A gateway holds a slot for some seconds after its visit was left, so in
 * these rows the slots set a limit of their own, which has a row; the last rows have slots enough for everybody, and show what
 * the nodes can do over HTTP.
 *
 * The throughput kept with more nodes is a ratio, so clusters of each size are measured in turn, several times, and the median of
 * neighbours counts.
 */
import { lingerMs } from "../src/core/pass.ts";
import { median, type Row, row } from "./bench.ts";
import { startOneOfMany } from "./child.ts";
import { ClusterNodes } from "./cluster-nodes.ts";
import {
  letThrough,
  type Passage,
  type Users,
  usersByHttp,
  usersByLine,
  usersByPolling,
} from "./cluster-users.ts";

const USERS = 5_000;
const AT_ONCE = 500;
const SLOTS = 500;
const FEWER_SLOTS = 400;
/** Enough for one run while the slots of the run before are still held. */
const SLOTS_OVER_HTTP = 15_000;
/** The paper's table 6.2, users a second by nodes. */
const PAPER: readonly Paper[] = [
  { count: 3, perSecond: 36.3 },
  { count: 8, perSecond: 33.4 },
  { count: 16, perSecond: 23.4 },
];
const TIMES_THE_PAPER_MIN = 100;
/** Throughput with 16 nodes as a share of that with 3. The paper's: 0.64. */
const KEPT_MIN = 0.67;
const HTTP_NODES = 3;
/** The paper took the mean of this many runs. */
const PAPER_RUNS = 3;

interface Paper {
  /** Of nodes. */
  readonly count: number;
  readonly perSecond: number;
}

interface Runs {
  /** How often clusters of every size are started anew. */
  readonly rounds: number;
  readonly warmUps: number;
  readonly measured: number;
}

/** The best of some runs. */
interface Best {
  readonly perSecond: number;
  /** The median of them. */
  readonly usualPerSecond: number;
  /** Share of users. */
  readonly waited: number;
  /** Processor time of all nodes for one user. */
  readonly spentUs: number;
}

interface Speed {
  readonly paper: Paper;
  /** Measured, of each kind. */
  readonly runs: number;
  /** Users a second of the first run after the start. */
  readonly first: number;
  readonly open: Best;
  /** With fewer slots. */
  readonly inLine: Best;
  readonly unfairness: number;
}

export async function speedRows(isQuick: boolean, progress: (text: string) => void): Promise<Row[]> {
  const runs: Runs = isQuick
    ? { rounds: 1, warmUps: 2, measured: 2 }
    : { rounds: 3, warmUps: 5, measured: 4 };
  const papers = PAPER.filter(({ count }) => !isQuick || count !== 8);
  const rounds: Speed[][] = [];
  for (let n = 0; n < runs.rounds; n++) {
    const found: Speed[] = [];
    for (const paper of papers) {
      progress(`${paper.count} nodes, ${n + 1} of ${runs.rounds}`);
      found.push(await speedOf(paper, runs));
    }
    rounds.push(found);
  }
  return [
    ...(await papersWayRows(isQuick, progress)),
    ...lineRows(rounds),
    ...(isQuick ? [] : await httpRows(runs, progress)),
  ];
}

/** Measured as in the paper, except that users share the nodes' cores, and leave, and some go straight through. */
async function papersWayRows(isQuick: boolean, progress: (text: string) => void): Promise<Row[]> {
  const papers = PAPER.filter(({ count }) => !isQuick || count === HTTP_NODES);
  const runs = isQuick ? 1 : PAPER_RUNS;
  const rows: Row[] = [];
  for (const paper of papers) {
    const passages: Passage[] = [];
    for (let n = 0; n < runs; n++) {
      progress(`${paper.count} nodes, the paper's way, ${n + 1} of ${runs}`);
      passages.push(await pollingPassage(paper.count));
    }
    const meanOf = (of: (passage: Passage) => number) =>
      passages.reduce((sum, passage) => sum + of(passage), 0) / runs;
    rows.push(
      row({
        name: `${paper.count} nodes the paper's way: HTTP, polling, fresh nodes, mean of ${runs}`,
        unit: "users/s",
        value: USERS / meanOf(({ perSecond }) => USERS / perSecond),
        baseline: paper.perSecond,
      }),
      row({
        name: `  waited in line, ${paper.count} nodes, ${FEWER_SLOTS} slots`,
        unit: "share",
        value: meanOf(({ waited }) => waited),
      }),
    );
  }
  const heldMs = lingerMs(0);
  return [
    ...rows,
    row({
      name: `  the most that ${FEWER_SLOTS} slots allow over HTTP, each held ${heldMs / 1_000} s after its visit was left`,
      unit: "users/s",
      value: FEWER_SLOTS / (heldMs / 1_000),
    }),
  ];
}

async function pollingPassage(count: number): Promise<Passage> {
  const nodes = await ClusterNodes.start({ server: "cluster-gateway", count, slots: FEWER_SLOTS });
  const users = await usersByPolling(nodes.ports, Math.ceil((2 * AT_ONCE) / count));
  try {
    return await once(users);
  } finally {
    users.close();
    await nodes.stop();
  }
}

async function speedOf(paper: Paper, runs: Runs): Promise<Speed> {
  const { count } = paper;
  const nodes = await ClusterNodes.start({ server: "cluster-node", count, slots: SLOTS });
  const users = await usersByLine(nodes.ports);
  try {
    const first = await once(users);
    for (let n = 1; n < runs.warmUps; n++) await once(users);
    const open = await bestOf(runs.measured, nodes, users);
    await nodes.setSlots(FEWER_SLOTS);
    const inLine = await bestOf(runs.measured, nodes, users);
    const { unfairness } = await nodes.counts();
    return { paper, runs: runs.measured, first: first.perSecond, open, inLine, unfairness };
  } finally {
    users.close();
    await nodes.stop();
  }
}

async function bestOf(runs: number, nodes: ClusterNodes, users: Users): Promise<Best> {
  const all: Omit<Best, "usualPerSecond">[] = [];
  for (let n = 0; n < runs; n++) {
    const before = await nodes.spentUs();
    const { perSecond, waited } = await once(users);
    all.push({ perSecond, waited, spentUs: ((await nodes.spentUs()) - before) / USERS });
  }
  return { ...fastest(all), usualPerSecond: median(all.map(({ perSecond }) => perSecond)) };
}

/** The best of all rounds for each size; and throughput with many nodes as a share of that with few, round by round. */
function lineRows(rounds: readonly (readonly Speed[])[]): Row[] {
  const found = rounds[0]!.map((_, i) => bestOfRounds(rounds.map((round) => round[i]!)));
  const few = found[0]!;
  const many = found.at(-1)!;
  return [
    ...besideThePaper(found, "open"),
    row({
      name: "3 nodes, line protocol, turns pushed, the first 5,000 after their start",
      unit: "users/s",
      value: few.first,
      baseline: few.paper.perSecond,
    }),
    keptRow(rounds, "open"),
    ...besideThePaper(found, "inLine"),
    keptRow(rounds, "inLine"),
    ...found.map(({ paper, inLine }) =>
      row({
        name: `processor time of a user on all nodes, ${paper.count} nodes beside 3`,
        unit: "µs",
        value: inLine.spentUs,
        baseline: few.inLine.spentUs,
      }),
    ),
    row({ name: "unfairness (Kendall tau), 16 nodes", unit: "", value: many.unfairness }),
  ];
}

function bestOfRounds(speeds: readonly Speed[]): Speed {
  const { paper, runs, first } = speeds[0]!;
  const open = fastest(speeds.map((speed) => speed.open));
  const inLine = fastest(speeds.map((speed) => speed.inLine));
  return {
    paper,
    runs,
    first,
    open,
    inLine,
    unfairness: Math.max(...speeds.map(({ unfairness }) => unfairness)),
  };
}

/** The paper's users always have a line; with a slot for each, few of those at 3 nodes do, and most at 16. */
function keptRow(rounds: readonly (readonly Speed[])[], scene: "open" | "inLine"): Row {
  const kept = rounds.map((round) => round.at(-1)![scene].usualPerSecond / round[0]![scene].usualPerSecond);
  const slots = scene === "open" ? SLOTS : FEWER_SLOTS;
  return row({
    name: `16 nodes, of what 3 let through, ${slots} slots: median of ${rounds.length} pairs, medians of ${rounds[0]![0]!.runs} runs each`,
    unit: "share",
    value: median(kept),
    goal: { of: "value", atLeast: KEPT_MIN },
  });
}

/** Throughput, and the share of users who waited in line. */
function besideThePaper(found: readonly Speed[], scene: "open" | "inLine"): Row[] {
  const slots = scene === "open" ? SLOTS : FEWER_SLOTS;
  const speeds = found.map(({ paper, [scene]: { perSecond } }, index) =>
    row({
      name: `${paper.count} nodes, line protocol, turns pushed, best of warm runs, ${slots} slots`,
      unit: "users/s",
      value: perSecond,
      baseline: paper.perSecond,
      ...(index === 0 && { goal: { of: "ratio", atLeast: TIMES_THE_PAPER_MIN } }),
    }),
  );
  const waits = found.map(({ paper, [scene]: { waited } }) =>
    row({ name: `  waited in line, ${paper.count} nodes, ${slots} slots`, unit: "share", value: waited }),
  );
  return [...speeds, ...waits];
}

/** Over HTTP: a cluster, and one gateway with its line in memory, in turn. */
async function httpRows(runs: Runs, progress: (text: string) => void): Promise<Row[]> {
  progress("over HTTP");
  const slots = SLOTS_OVER_HTTP;
  const nodes = await ClusterNodes.start({ server: "cluster-gateway", count: HTTP_NODES, slots });
  const alone = await startOneOfMany<{ port: number }>("cluster-gateway", ["", String(slots), "memory"]);
  // Enough that nobody waits for a connection.
  const there = await usersByHttp(nodes.ports, AT_ONCE / 2);
  const here = await usersByHttp([alone.ready.port], AT_ONCE);
  try {
    const ours: Passage[] = [];
    const memory: Passage[] = [];
    for (let n = 0; n < runs.warmUps + runs.measured; n++) {
      ours.push(await once(there));
      memory.push(await once(here));
    }
    const { perSecond, waited } = fastest(ours.slice(runs.warmUps));
    const single = fastest(memory.slice(runs.warmUps));
    return [
      row({
        name: `${HTTP_NODES} nodes over HTTP with tokens, slots for all, best of warm runs`,
        unit: "users/s",
        value: perSecond,
        baseline: PAPER[0]!.perSecond,
      }),
      row({
        name: "  the same, beside one gateway with its line in memory",
        unit: "users/s",
        value: perSecond,
        baseline: single.perSecond,
      }),
      row({
        name: "  users who waited in line, beside that gateway's",
        unit: "share",
        value: waited,
        baseline: single.waited,
      }),
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

function fastest<One extends Passage>(passages: readonly One[]): One {
  return passages.reduce((best, one) => (one.perSecond > best.perSecond ? one : best));
}
