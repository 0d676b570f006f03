/**
 * A gateway whose file handles run out while it runs: its limit is lowered from outside to what it has open, which is as
 * if the reserve had been too small. It must live, make room by itself, and be well again.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import net, { type Socket } from "node:net";
import { test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder, type Run, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ask, type HttpAnswer } from "../../src/visitor/ask.ts";

const IDLE = 60;

/** No more files than it has open, and none to spare. */
function takeAllHandles({ child }: Run): void {
  const open = readdirSync(`/proc/${child.pid}/fd`).length;
  execFileSync("prlimit", [`--pid=${child.pid}`, `--nofile=${open}:`]);
}

async function connectIdle(run: Run, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(run.address);
  const sockets = Array.from({ length: count }, () =>
    net.connect(Number(port), hostname).on("error", () => {}),
  );
  await Promise.all(
    sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve).once("close", resolve))),
  );
  return sockets;
}

/** One request on a connection of its own; null when there was none to be had. */
function come(run: Run, cookie = ""): Promise<HttpAnswer | null> {
  const headers = { accept: "text/html", ...(cookie && { cookie }) };
  return ask(run.address, { headers }).catch(() => null);
}

test("without a file handle left it makes room, serves newcomers and the site, keeps places, and says so", async (t) => {
  await using origin = await TestOrigin.open();
  using folder = ownFolder();
  const settings = ["--origin", origin.address, "--total-active-users", "1", "--data", "kept"];
  await using run = await startRun(settings, { cwd: folder.path });
  const pass = (await come(run))!.cookie!;
  const idle = await connectIdle(run, IDLE);
  // Connections are taken in the order of their coming, so after this answer it has all of them.
  assert.ok(await come(run));
  t.after(() => {
    for (const socket of idle) socket.destroy();
  });
  const before = run.log().length;
  const shortages = () => run.log().filter(({ code }) => code === "OUT_OF_FILES");
  takeAllHandles(run);
  await eventually("it notices", async () => {
    // A handle that came free meanwhile is taken as well.
    idle.push(...(await connectIdle(run, 1)));
    return shortages().length > 0;
  });
  await eventually("a newcomer gets a place", async () => (await come(run))?.cookie != null);
  await eventually("visitors on the site get the page", async () =>
    (await come(run, pass))?.text.includes("The shop"),
  );
  const operate = (method: string, path: string, body?: object) => async () =>
    (await run.control.ask(method, path, body).catch(() => null))?.status === 200;
  await eventually("health is told", operate("GET", "/healthz"));
  await eventually("a change is kept", operate("PATCH", "/rooms/main", { message: "Soon." }));
  const lines = run.log().slice(before);
  const told = shortages();
  const seconds = (Number(told.at(-1)!.time) - Number(told[0]!.time)) / 1_000;
  assert.ok(told.length <= seconds + 2, `${told.length} lines in ${seconds} s`);
  assert.equal(
    lines.some(({ code }) => code === "ORIGIN_DOWN"),
    false,
    "the origin is not to blame",
  );
});
