/**
 * Runs test files, each in a process of its own and several at a time, and starts them in the order in which they are named:
 * `node --test` would sort them by name, and a long one that happens to come last then runs alone while a core is idle.
 *
 *     node scripts/test-files.ts HOW_MANY_AT_A_TIME FILE…
 */
import { pipeline } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";

/** A test that takes longer hangs, however busy the machine is. */
const TEST_MAX_MS = 900_000;

const [atATime, ...files] = process.argv.slice(2);
const stopped = new AbortController();
// What runs then is ended and named.
process.once("SIGTERM", () => stopped.abort(new Error("The test run was ended by SIGTERM.")));
const results = run({ files, concurrency: Number(atATime), timeout: TEST_MAX_MS, signal: stopped.signal });
results.on("test:summary", ({ success }) => {
  if (!success) process.exitCode = 1;
});
await pipeline(results, new spec(), process.stdout, { end: false });
