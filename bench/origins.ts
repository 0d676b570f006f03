/**
 * Three addresses, one of them broken: what visitors notice through our proxy, beside nginx with `least_conn` in the same run.
 * Each run has fresh processes and a short time without faults first, so that the measurement begins when the address breaks.
 * Visitors request pages one after the other; a healthy address answers after 20 ms.
 *
 *   dead        its process is gone; connections are refused
 *   swallowing  it was never there: connections are neither taken nor refused
 *   silent      it takes connections and requests, and never answers
 *   resetting   it hangs up on every request
 *   failing     it answers every request with 500 at once
 *   slow        it takes ten times as long as the others
 */
import { once } from "node:events";
import { connect } from "node:net";
import { ensurePrograms } from "../scripts/debian.ts";
import { NGINX } from "../scripts/origins.ts";
import { ERRORS_REMEMBERED_MS } from "../src/gateway/proxy/address-health.ts";
import { aligned, type Bench, type Goal, type Row, row } from "./bench.ts";
import { type Child, startChild, startOneOfMany } from "./child.ts";
import { startNginx } from "./nginx.ts";
import { percentile, visit } from "./patient-visitors.ts";
import type { Mode } from "./servers/shaky-origin.ts";

const VISITORS = 24;
const SERVICE_MS = 20;
/** Timeouts for a connection, and for an answer to begin. */
const PATIENCE = "1s";
/** A longer wait is due to the broken address. */
const WAIT_MS = 900;
const GOOD_TIMES_MS = 500;
const BACKLOG = 511;
/** Connections that fill a backlog of 1, whatever the system adds to it. */
const FILLING = 8;

const PLAYS = ["none", "dead", "swallowing", "silent", "resetting", "failing", "slow"] as const;
type Play = (typeof PLAYS)[number];

const ERRORS = "errors";
const P50 = "p50";
const P99 = "p99";
const WAITS = "waits";
const SHARE = "share of the broken";
const LATER = "share later";
const LINES = "log lines";
const MENDED = "share once mended";

/** A third, and some random variation. */
const EQUAL_SHARE = 34;
const GOALS: Readonly<Record<string, Goal>> = {
  [`dead: ${ERRORS}`]: { of: "value", atMost: 0 },
  [`dead: ${LINES}`]: { of: "value", atMost: 1 },
  [`swallowing: ${ERRORS}`]: { of: "value", atMost: 0 },
  [`swallowing: ${WAITS}`]: { of: "value", atMost: 1 },
  [`resetting: ${ERRORS}`]: { of: "value", atMost: 0.1 },
  [`failing: ${SHARE}`]: { of: "value", atMost: EQUAL_SHARE },
  [`failing: ${LATER}`]: { of: "value", atMost: EQUAL_SHARE / 2 },
  [`failing: ${MENDED}`]: { of: "value", atLeast: 30 },
};

interface Ready {
  readonly port: number;
  readonly pid: number;
}

interface Scene {
  readonly origins: readonly Child<Ready>[];
  readonly ports: readonly number[];
  /** Breaks the first address. */
  breakIt(): Promise<void>;
  /** Requests the first address has had. */
  requests(): Promise<number>;
  stop(): Promise<void>;
}

export const originsBench: Bench = {
  name: "origins",
  about: "three addresses, one of them broken: GETs through our proxy, beside nginx with least_conn",
  parts: PLAYS,
  async run({ isQuick, progress, isChosen }) {
    ensurePrograms([NGINX]);
    const milliseconds = isQuick ? 1_000 : 10_000;
    const rows: Row[] = [];
    for (const play of PLAYS.filter(isChosen)) {
      progress(`${play}: ours`);
      const ours = await perform(play, milliseconds, startOurs, !isQuick);
      progress(`${play}: nginx`);
      const nginx = await perform(play, milliseconds, startTheirs, false);
      rows.push(...rowsOf(play, ours, nginx));
    }
    return rows;
  },
  table: playTable,
};

type Found = Readonly<Record<string, number>>;

interface Front {
  readonly port: number;
  lines(): Promise<number>;
  stop(): Promise<unknown>;
}

async function startOurs(ports: readonly number[]): Promise<Front> {
  const addresses = ports.map((port) => `http://127.0.0.1:${port}`).join(",");
  const child = await startChild<{ port: number }>("several-origins", [addresses, PATIENCE]);
  const lines = async () => (await child.ask<{ lines: number }>("lines")).lines;
  return { port: child.ready.port, lines, stop: child.stop };
}

async function startTheirs(ports: readonly number[]): Promise<Front> {
  return { ...(await startNginx(ports, PATIENCE)), lines: async () => 0 };
}

async function perform(
  play: Play,
  milliseconds: number,
  start: (ports: readonly number[]) => Promise<Front>,
  isMendedToo: boolean,
): Promise<Found> {
  const scene = await openScene(play);
  if (play === "swallowing") await scene.breakIt();
  const front = await start(scene.ports);
  if (play !== "swallowing") {
    await visit(front.port, VISITORS, GOOD_TIMES_MS);
    await scene.breakIt();
  }
  const halves = [];
  for (let half = 0; half < 2; half++) {
    const before = await scene.requests();
    const visits = await visit(front.port, VISITORS, milliseconds / 2);
    halves.push({ ...visits, broken: (await scene.requests()) - before });
  }
  const tookMs = halves.flatMap((half) => half.tookMs).sort((a, b) => a - b);
  const found: Record<string, number> = {
    [ERRORS]: percent(
      halves.reduce((sum, { errors }) => sum + errors, 0),
      tookMs.length,
    ),
    [P50]: percentile(tookMs, 0.5),
    [P99]: percentile(tookMs, 0.99),
    [WAITS]: tookMs.filter((took) => took > WAIT_MS).length,
    [SHARE]: percent(
      halves.reduce((sum, { broken }) => sum + broken, 0),
      tookMs.length,
    ),
    [LATER]: percent(halves[1]!.broken, halves[1]!.tookMs.length),
    [LINES]: await front.lines(),
  };
  if (play === "failing" && isMendedToo) found[MENDED] = await mend(scene, front);
  await Promise.all([front.stop(), scene.stop()]);
  return found;
}

/** The share of requests that a recovered address gets, after the time in which its errors are forgotten. */
async function mend(scene: Scene, front: Front): Promise<number> {
  await scene.origins[0]!.ask({ mode: "well" satisfies Mode });
  await visit(front.port, VISITORS, ERRORS_REMEMBERED_MS);
  const before = await scene.requests();
  const { tookMs } = await visit(front.port, VISITORS, GOOD_TIMES_MS * 2);
  return percent((await scene.requests()) - before, tookMs.length);
}

async function openScene(play: Play): Promise<Scene> {
  const backlogs = [play === "swallowing" ? 1 : BACKLOG, BACKLOG, BACKLOG];
  const origins = await Promise.all(
    backlogs.map((backlog) => startOneOfMany<Ready>("shaky-origin", [String(backlog), String(SERVICE_MS)])),
  );
  const first = origins[0]!;
  const isGone = play === "dead" || play === "swallowing" || play === "silent";
  let lastCount = 0;
  const ask = async (question: object) => {
    lastCount = (await first.ask<{ requests: number }>(question)).requests;
    return lastCount;
  };
  const breakIt = async () => {
    if (play === "none") return;
    if (play === "dead") await first.stop();
    else if (isGone) process.kill(first.ready.pid, "SIGSTOP");
    else await ask({ mode: play satisfies Mode });
    if (play === "swallowing") await fillBacklog(first.ready.port);
  };
  return {
    origins,
    ports: origins.map(({ ready }) => ready.port),
    breakIt,
    // A dead address does not report its number of requests.
    requests: () => (isGone ? Promise.resolve(lastCount) : ask({})),
    stop: async () => {
      await Promise.all(origins.map((origin, n) => (play === "dead" && n === 0 ? null : origin.stop())));
    },
  };
}

/** Nothing else gets a connection after this. They stay open for as long as the process that listens lives. */
async function fillBacklog(port: number): Promise<void> {
  for (let n = 0; n < FILLING; n++) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    const made = once(socket, "connect").then(() => true);
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, 100, false));
    if (await Promise.race([made, late])) continue;
    socket.destroy();
    return;
  }
  throw new Error("the backlog of a stopped process takes every connection");
}

function percent(count: number, of: number): number {
  return (count / of) * 100;
}

const UNITS: Readonly<Record<string, string>> = { [P50]: "ms", [P99]: "ms", [WAITS]: "", [LINES]: "" };

function rowsOf(play: Play, ours: Found, nginx: Found): Row[] {
  return Object.entries(ours).map(([what, value]) => {
    const name = `${play}: ${what}`;
    const goal = GOALS[name];
    const baseline = what === LINES || what === MENDED ? null : nginx[what]!;
    // There is nothing to divide by where nginx has none.
    const made = row({ name, unit: UNITS[what] ?? "%", value, ...(goal ? { goal } : {}) });
    return { ...made, baseline, ratio: baseline ? value / baseline : null };
  });
}

/** One line for each run, ours and nginx's side by side. */
function playTable(rows: readonly Row[]): string {
  const cell = (play: Play, what: string) => {
    const found = rows.find(({ name }) => name === `${play}: ${what}`);
    if (!found) return ["", ""];
    const figure = (value: number | null) => (value === null ? "" : written(what, value));
    return [`${figure(found.value)}${found.ok === false ? " MISSED" : ""}`, figure(found.baseline)];
  };
  const columns = [ERRORS, P50, P99, WAITS, SHARE, LATER];
  const header = ["one of three is", ...columns.flatMap((what) => [what, "nginx"]), LINES, MENDED];
  const plays = PLAYS.filter((play) => rows.some(({ name }) => name.startsWith(`${play}: `)));
  const lines = plays.map((play) => [
    play,
    ...columns.flatMap((what) => cell(play, what)),
    cell(play, LINES)[0]!,
    cell(play, MENDED)[0]!,
  ]);
  return aligned([header, ...lines], (column) => column > 0);
}

function written(what: string, value: number): string {
  if (what === WAITS || what === LINES) return String(value);
  if (what === P50 || what === P99) return `${value.toFixed(value < 100 ? 1 : 0)} ms`;
  return `${value.toFixed(value > 0 && value < 10 ? 2 : 0)} %`;
}
