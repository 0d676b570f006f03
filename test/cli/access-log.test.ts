/** The access log of a real process: rotated by a signal, complete when the process ends, and never waited for. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Child } from "../../src/testing/cli/child.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { fairgate, MAIN, ownFolder, type Run, SECRET, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor, readBoard } from "../../src/testing/cli/visitor.ts";

const ROTATIONS = 3;
const VISITORS = 4;
/** More than a pipe and the readers of both ends hold together. */
const LONG_LINES = 200;
const LONG = "x".repeat(2_000);
const LINE =
  /^127\.0\.0\.1 - - \[[^\]]+\] "GET \/page\?n=(\d+) HTTP\/1\.1" 200 \d+ "-" "[^"]+" host=.* id=\S+$/;

function settings(origin: TestOrigin, more: object, message = ""): string {
  const rooms = { main: { totalActiveUsers: 100, message } };
  return JSON.stringify({ origin: { addresses: [origin.address] }, rooms, ...more });
}

test("rotated while people come, every request is one whole line in one of the files", async () => {
  await using origin = await TestOrigin.open();
  using folder = ownFolder({ "fairgate.yaml": settings(origin, { accessLog: { to: "access.log" } }) });
  await using run = await startRun([], { cwd: folder.path });
  const file = join(folder.path, "access.log");
  let sent = 0;
  let isOver = false;
  const coming = Array.from({ length: VISITORS }, async () => {
    const visitor = new ProcessVisitor(run.address);
    while (!isOver) await visitor.open(`/page?n=${++sent}`);
  });
  for (let n = 1; n <= ROTATIONS; n++) {
    await eventually("lines in the file", () => existsSync(file) && readFileSync(file, "utf8") !== "");
    renameSync(file, `${file}.${n}`);
    run.child.kill("SIGUSR2");
  }
  await eventually("lines in the last file", () => existsSync(file) && readFileSync(file, "utf8") !== "");
  isOver = true;
  await Promise.all(coming);
  assert.deepEqual(await run.child.end("SIGTERM"), { code: 0, signal: null });
  const files = [file, ...Array.from({ length: ROTATIONS }, (_, n) => `${file}.${n + 1}`)];
  const lines = files.flatMap((name) => readFileSync(name, "utf8").split(/(?<=\n)/));
  const asked = lines.map((line) => Number((LINE.exec(line.slice(0, -1)) ?? assert.fail(line))[1]));
  assert.deepEqual(
    asked.sort((a, b) => a - b),
    Array.from({ length: sent }, (_, n) => n + 1),
  );
});

test("while nobody reads standard output visitors are served, no line is lost or torn, and the end does not wait", async (t) => {
  await using origin = await TestOrigin.open();
  const accessLog = { to: "stdout", format: "json" };
  using folder = ownFolder({ "fairgate.yaml": settings(origin, { accessLog }) });
  const args = [MAIN, "run", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"];
  const env = { ...process.env, FAIRGATE_SECRET: SECRET };
  const child = spawn(process.execPath, args, {
    ...{ cwd: folder.path, env, stdio: ["ignore", "pipe", "ignore"] },
  });
  t.after(() => child.kill("SIGKILL"));
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const running = () => logged(out).find(({ msg }) => msg === "fairgate is running");
  const { listen } = await eventually("it is running", running);
  const visitor = new ProcessVisitor(`http://${listen}`);
  let visits = 0;
  const visit = async (times: number) => {
    while (times-- > 0) assert.equal((await visitor.open(`/${visits++}/${LONG}`)).status, 200);
  };
  /** Makes the process say something in its own log. */
  const reload = async (message: string) => {
    folder.write("fairgate.yaml", settings(origin, { accessLog }, message));
    child.kill("SIGHUP");
    const board = async () => (await readBoard(`http://${listen}`)).message;
    await eventually("new settings", async () => (await board()) === message);
  };
  child.stdout.pause();
  await visit(LONG_LINES);
  await reload("Hello.");
  await visit(5);
  child.stdout.resume();
  const paths = () => logged(out).flatMap(({ path }) => (typeof path === "string" ? [path] : []));
  await eventually("all lines", () => paths().length >= visits);
  // Each visit has a connection of its own, and a line is written when the answer is sent: one may come a little later.
  assert.deepEqual(
    paths().sort((a, b) => parseInt(a.slice(1), 10) - parseInt(b.slice(1), 10)),
    Array.from({ length: visits }, (_, n) => `/${n}/${LONG}`),
  );
  assert.ok(logged(out).some(({ msg }) => msg === "new settings are in force"));

  child.stdout.pause();
  await visit(LONG_LINES);
  await reload("Goodbye.");
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("a file that cannot be opened is reported before anything listens", async () => {
  using folder = ownFolder();
  const args = ["run", "--origin", "http://127.0.0.1:1", "--total-active-users", "1"];
  const environment = { FAIRGATE_SECRET: SECRET };
  const to = ["--access-log", "missing/access.log"];
  const { code, err } = await fairgate([...args, ...to], { cwd: folder.path, environment });
  assert.equal(code, 1);
  assert.match(
    err,
    /could not start: the access log \S+missing\/access\.log cannot be opened: there is no such folder/,
  );
});

test("a reload turns it on and takes it elsewhere, or leaves all as it was", async () => {
  await using origin = await TestOrigin.open();
  using folder = ownFolder({ "fairgate.yaml": settings(origin, {}) });
  await using run = await startRun([], { cwd: folder.path });
  const has = (name: string, text: string) =>
    existsSync(join(folder.path, name)) && readFileSync(join(folder.path, name), "utf8").includes(text);
  const visitor = new ProcessVisitor(run.address);
  // With nothing to reopen, nothing happens.
  run.child.kill("SIGUSR2");
  for (const [to, format, text] of [
    ["one.log", "combined", '"GET /one.log HTTP/1.1" 200'],
    ["two.log", "json", '"path":"/two.log"'],
  ] as const) {
    folder.write("fairgate.yaml", settings(origin, { accessLog: { to, format } }));
    await reloaded(run, /new settings are in force/);
    await visitor.open(`/${to}`);
    await eventually(`a line in ${to}`, () => has(to, text));
  }
  folder.write("fairgate.yaml", settings(origin, { accessLog: "./short.log" }));
  await reloaded(run, /new settings are in force/);
  await visitor.open("/short");
  await eventually("a line by the short form", () => has("short.log", '"GET /short HTTP/1.1" 200'));
  folder.write("fairgate.yaml", settings(origin, { accessLog: { to: "two.log", format: "json" } }));
  await reloaded(run, /new settings are in force/);
  folder.write("fairgate.yaml", settings(origin, { accessLog: { to: "missing/three.log" } }));
  await reloaded(run, /the old ones stay/);
  await visitor.open("/after");
  await eventually("a line in the old file", () => has("two.log", '"path":"/after"'));
  assert.ok(!has("one.log", "/two.log"));
});

test("a process that is stopped at once has written its lines, including those still being written", async () => {
  using folder = ownFolder();
  const module = fileURLToPath(new URL("../../src/assembly/open-access-log.ts", import.meta.url));
  const world = fileURLToPath(new URL("../../src/node.ts", import.meta.url));
  const program = `
    import { openAccessLog } from ${JSON.stringify(module)};
    import { nodeWorld } from ${JSON.stringify(world)};
    const { log } = await openAccessLog({ to: "end.log", format: "json" }, { world: nodeWorld() });
    for (let n = 0; n < 20000; n++) log.sink.add({ endedAt: 0, address: "::1", method: null, path: null, httpVersion: null, status: n, bytes: null,
      referer: null, userAgent: null, host: null, room: null, decision: "none", visitor: null, origin: null,
      originMs: null, tookMs: 0, id: null });
    process.exit(3);`;
  await using child = new Child(process.execPath, ["--input-type=module", "-e", program], {
    cwd: folder.path,
  });
  assert.deepEqual(await child.ended, { code: 3, signal: null }, child.err);
  const lines = readFileSync(join(folder.path, "end.log"), "utf8").trimEnd().split("\n");
  const numbers = lines.map((line) => JSON.parse(line).status).sort((a, b) => a - b);
  assert.deepEqual(
    numbers,
    Array.from({ length: 20_000 }, (_, n) => n),
  );
});

/** Sends SIGHUP and waits for one more line that matches. */
async function reloaded(run: Run, message: RegExp): Promise<void> {
  const lines = () => run.log().filter(({ msg }) => message.test(msg)).length;
  const before = lines();
  run.child.kill("SIGHUP");
  await eventually(String(message), () => lines() > before);
}

/** The complete lines so far, parsed as JSON. */
function logged(out: string): Record<string, unknown>[] {
  const whole = out
    .slice(0, out.lastIndexOf("\n") + 1)
    .split("\n")
    .slice(0, -1);
  return whole.map((line) => JSON.parse(line) as Record<string, unknown>);
}
