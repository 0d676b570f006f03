/**
 * Time, randomness and timers are passed in: only entry points, drivers and transports take them from the machine, and each that
 * does is named here with the reason.
 *
 * `queueMicrotask` and `process.nextTick` are no timers: they run before this turn of the event loop ends, so no time passes and
 * nothing else runs in between.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf, isTest, sources } from "./sources.ts";

/** Folder or file → why it may. */
const MAY_TOUCH: Readonly<Record<string, string>> = {
  "src/node.ts": "makes the world that everything else is handed",
  "src/cli/": "entry points",
  "src/client.ts": "runs in browsers: takes their clock, timers and dice where a test hands in no others",
  "src/assembly/cluster-addresses.ts": "driver of DNS: `Machine` is what it hands out",
  "src/assembly/data.ts": "driver of the data directory: makes the secret that is kept there, once",
  "src/engines/cluster/wire/transport.ts":
    "transport: nonces of handshakes, messages of one turn in one frame",
  "src/engines/redis/visit-calls.ts":
    "driver of Redis: the calls of one turn go together, also where the clock is moved by hand",
  "src/durable/committer.ts": "driver of the disk: the writes of one turn are committed together",
  "src/durable/input-gate.ts": "driver of the disk: other events may enter once storage has gone on",
  "src/gateway/streams/in-turns.ts": "default of `nextTurn`, which tests hand in",
  "src/gateway/proxy/turns.ts": "default of `nextTurn`, which tests hand in",
  "src/sockets/fair-turns.ts": "default of `nextTurn`, which tests hand in",
  "src/office/body.ts": "large bodies get a turn of the event loop each; no time is waited for",
};

const CLOCKS = /\bDate\.now\b|\bnew Date\(\)|\bperformance\.(now|timeOrigin)\b|\bprocess\.(hrtime|uptime)\b/;
const DICE = /\bMath\.random\b|\brandom(Bytes|UUID|Int|FillSync|Fill)\b|\bgetRandomValues\b/;
const TIMERS =
  /(?<![.\w])set(Timeout|Interval|Immediate)\b|\b(globalThis|global)\.set\w+|\b(from |import\()"(node:)?timers(\/promises)?"|\bAbortSignal\.timeout\b|\bscheduler\.(wait|postTask)\b/;

/** The lines of a text that take something from the machine. */
function touchingLines(text: string): number[] {
  return text
    .split("\n")
    .flatMap((line, i) => ([CLOCKS, DICE, TIMERS].some((touching) => touching.test(line)) ? [i + 1] : []));
}

const touching = sources
  .filter((file) => !isTest(file))
  .flatMap((file) => touchingLines(codeOf(file)).map((line) => ({ file, line })));

test("only what is named takes time, randomness or timers from the machine", () => {
  const wrong = touching.filter(({ file }) => !Object.keys(MAY_TOUCH).some((name) => file.startsWith(name)));
  assert.deepEqual(
    wrong.map(({ file, line }) => `${file}:${line}`),
    [],
  );
});

test("every file that is named takes something", () => {
  const idle = Object.keys(MAY_TOUCH).filter((name) => !touching.some(({ file }) => file.startsWith(name)));
  assert.deepEqual(idle, []);
});

test("the check can see: each way to take something is found, and what is passed in is not", () => {
  const found = [
    "clock: { now: Date.now }",
    "const at = new Date();",
    "const at = performance.now();",
    "const at = process.hrtime.bigint();",
    "Math.random()",
    'import { randomBytes } from "node:crypto";',
    "const id = crypto.randomUUID();",
    "crypto.getRandomValues(bytes)",
    "setTimeout(work, 5)",
    "constructor(nextTurn = setImmediate) {",
    'import { setTimeout as pause } from "node:timers/promises";',
    'import timers from "timers";',
    "signal: AbortSignal.timeout(1_000)",
  ];
  assert.deepEqual(
    found.filter((line) => touchingLines(line).length === 0),
    [],
  );
  const handedIn = [
    "clock.now()",
    "socket.setTimeout(5)",
    "timers.after(5, work)",
    "random.bytes(16)",
    "new Date(at)",
  ];
  assert.deepEqual(
    handedIn.filter((line) => touchingLines(line).length > 0),
    [],
  );
});
