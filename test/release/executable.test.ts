/**
 * The single executable, with no Node to be found: it does what the program from source does, with the pages, the languages,
 * the Lua and the thread that are inside it.
 */
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { EXECUTABLE, ensureExecutable } from "../../scripts/executable.ts";
import { Child } from "../../src/testing/cli/child.ts";
import { ownFolder, type Run, running, SECRET, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";
import { startRedis } from "../../src/testing/redis/servers.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const ANYWHERE = ["--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"];

/** More than fill the log to the length at which the thread begins. */
const CHANGES_MAX = 1_000;

/** Settings of some 150 KB. */
function largeChange(number: number): object {
  const path = (i: number) => `/${number}-${i}-${"x".repeat(900)}`;
  return {
    bypass: Array.from({ length: 50 }, (_, i) => ({ path: [path(3 * i), path(3 * i + 1), path(3 * i + 2)] })),
  };
}

describe("the single executable, with no Node on the PATH", () => {
  const folder = ownFolder();
  const environment = { PATH: folder.path, FAIRGATE_SECRET: SECRET, FAIRGATE_CONTROL_TOKEN: TOKEN };
  const child = (args: readonly string[], more: Record<string, string> = {}, program = EXECUTABLE) =>
    new Child(program, args, { cwd: folder.path, environment: { ...environment, ...more } });
  const run = (args: readonly string[], more = {}): Promise<Run> =>
    running(child(["run", ...ANYWHERE, ...args], more));

  before(ensureExecutable);

  test("says its version, by whatever name and path it is started, and whatever is said to another Node", async () => {
    const renamed = join(folder.path, "a gate 🚪");
    const linked = join(folder.path, "linked");
    symlinkSync(EXECUTABLE, linked);
    copyFileSync(EXECUTABLE, renamed);
    const hostile = {
      NODE_OPTIONS: "--require ./nothing.js --no-such-option",
      NODE_PATH: folder.path,
    };
    for (const program of [EXECUTABLE, linked, renamed]) {
      const shown = child(["--version"], hostile, program);
      assert.deepEqual(await shown.ended, { code: 0, signal: null }, shown.err);
      assert.equal(shown.out, `${version}\n`);
    }
  });

  test("has the licences of all that is in it beside it", () => {
    const notices = readFileSync(join(dirname(EXECUTABLE), "NOTICES.txt"), "utf8");
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      dependencies: object;
    };
    for (const name of Object.keys(dependencies)) assert.match(notices, new RegExp(`^${name} \\d`, "m"));
    assert.match(notices, /^Node\.js is licensed for use as follows/m);
    for (const part of notices.split("=".repeat(80))) assert.ok(part.trim().length > 100, part);
  });

  test("checks settings and plays a crowd", async () => {
    const checked = child(["check", "--origin", "http://127.0.0.1:3000", "--total-active-users", "1"]);
    assert.deepEqual(await checked.ended, { code: 0, signal: null }, checked.err);
    assert.match(checked.out, /one room \(main\)/);
    const room = ["--total-active-users", "5", "--new-users-per-minute", "60"];
    const played = child(["simulate", "--crowd", "50", ...room]);
    assert.deepEqual(await played.ended, { code: 0, signal: null }, played.err);
    assert.match(played.out, /\b50\b/);
  });

  test("keeps the line through kill -9, and its thread keeps the store's log short", async () => {
    await using origin = await TestOrigin.open();
    const args = ["--origin", origin.address, "--total-active-users", "1", "--data", "kept"];
    await using first = await run(args);
    assert.equal((await ProcessVisitor.arrive(first.address)).standing.isIn, true);
    const waiting = await ProcessVisitor.arrive(first.address);
    const page = await waiting.open("/", { "accept-language": "sv" });
    assert.match(page.text, /<html lang="sv"/);
    const second = await ProcessVisitor.arrive(first.address);
    const store = join(folder.path, "kept", "objects.db");
    const copiedAt = () => statSync(store).mtimeMs;
    const before = copiedAt();
    for (let i = 0; copiedAt() === before; i++) {
      assert.ok(i < CHANGES_MAX, "the log is brought into the store");
      assert.equal((await first.control.ask("PATCH", "/rooms/main", largeChange(i))).status, 200);
    }
    await first.child.end("SIGKILL");
    await using again = await run(args);
    for (const visitor of [waiting, second]) visitor.address = again.address;
    assert.deepEqual([await waiting.ahead(), await second.ahead()], [0, 1]);
    assert.deepEqual(await again.child.end("SIGTERM"), { code: 0, signal: null });
    const warnings = [...first.log(), ...again.log()].filter(({ level }) => level > 30);
    assert.deepEqual(warnings, []);
  });

  test("keeps the line in Redis", async () => {
    await using redis = await startRedis();
    await using origin = await TestOrigin.open();
    // A busy machine may keep an answer of Redis for longer than the usual timeout.
    folder.write("patient.yaml", "redis: { timeout: 1m }\n");
    const place = ["--config", "patient.yaml", "--redis", redis.url];
    await using gateway = await run(["--origin", origin.address, "--total-active-users", "1", ...place]);
    assert.equal((await ProcessVisitor.arrive(gateway.address)).standing.isIn, true);
    assert.equal((await ProcessVisitor.arrive(gateway.address)).standing.isIn, false);
  });

  test("takes nothing from modules that lie beside it", async () => {
    const trap = join(folder.path, "node_modules", "pino");
    mkdirSync(trap, { recursive: true });
    folder.write("node_modules/pino/index.js", "throw new Error('taken');");
    const beside = join(folder.path, "fairgate");
    copyFileSync(EXECUTABLE, beside);
    const checked = child(
      ["check", "--origin", "http://127.0.0.1:3000", "--total-active-users", "1"],
      {},
      beside,
    );
    assert.deepEqual(await checked.ended, { code: 0, signal: null }, checked.err);
  });
});
