/** Stopping: work in progress is finished, nothing new is accepted, and a later signal ends the process at once. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Ended } from "../../src/testing/cli/child.ts";
import { eventually, GIVE_UP_MS, isListening } from "../../src/testing/cli/eventually.ts";
import { ownFolder, type Run, startRun } from "../../src/testing/cli/fairgate.ts";
import { HALF, TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";

/** Signals closer together than this count as one. */
const ANOTHER_MS = 1_200;

describe("fairgate run, when told to stop", { concurrency: 2 }, () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`${signal}: a download under way is finished, and nothing new is taken`, async () => {
      await using origin = await TestOrigin.open();
      await using run = await startUnhurried(origin, 2);
      const download = await startDownload(run);
      run.child.kill(signal);
      await eventually("new connections are refused", async () => !(await isListening(run.address)));
      const { status, body } = await run.control.ask<{ isReady: boolean }>("GET", "/readyz");
      assert.deepEqual(
        [status, body.isReady],
        [503, false],
        "and health checks are told to send no visitors",
      );
      origin.finishDownloads();
      assert.equal((await download.text()).length, 2 * HALF.length);
      assert.deepEqual(await run.child.ended, { code: 0, signal: null });
      assert.equal(run.log().at(-1)?.msg, "stopped");
    });
  }

  test("a Ctrl-C that arrives twice, as under npx, counts once: the download is finished", async () => {
    await using origin = await TestOrigin.open();
    await using run = await startUnhurried(origin, 2);
    const download = await startDownload(run);
    // Two pending signals of one kind would be merged into one; src/cli/stop-signals.test.ts tests two of a kind. The process
    // handles both when it goes on, however long it takes this one to send them.
    for (const signal of ["SIGSTOP", "SIGINT", "SIGTERM", "SIGCONT"] as const) run.child.kill(signal);
    await eventually("new connections are refused", async () => !(await isListening(run.address)));
    const { status } = await run.control.ask("GET", "/readyz");
    assert.equal(status, 503, "it is still there");
    origin.finishDownloads();
    assert.equal((await download.text()).length, 2 * HALF.length);
    assert.deepEqual(await run.child.ended, { code: 0, signal: null });
    assert.equal(run.log().at(-1)?.msg, "stopped");
  });

  test("a later signal ends at once, says so, and the download is cut", async () => {
    await using origin = await TestOrigin.open();
    await using run = await startUnhurried(origin, 2);
    const download = await startDownload(run);
    run.child.kill("SIGTERM");
    await run.child.prints(/finishing what is under way/);
    await pause(ANOTHER_MS);
    run.child.kill("SIGTERM");
    assert.deepEqual(await run.child.ended, { code: 1, signal: null });
    assert.match(run.log().at(-1)?.msg ?? "", /ending at once/);
    await assert.rejects(download.text());
  });

  test("everyone who watches the line is told, and none of them delays the stop", async () => {
    await using origin = await TestOrigin.open();
    await using run = await startUnhurried(origin, 1);
    await ProcessVisitor.arrive(run.address);
    const watchers = await Promise.all([1, 2, 3].map(() => ProcessVisitor.arrive(run.address)));
    const streams = await Promise.all(watchers.map((visitor) => visitor.begin("/.fairgate/main/events")));
    for (const stream of streams) assert.equal(stream.statusCode, 200);
    run.child.kill("SIGTERM");
    for (const stream of streams)
      assert.match(await text(stream), /event: board[\s\S]*event: bye\ndata: \{\}\n\n$/);
    assert.deepEqual(await ended(run), { code: 0, signal: null });
  });

  test("a watcher whose request arrives while stopping does not delay the stop either", async () => {
    await using origin = await TestOrigin.open();
    await using run = await startUnhurried(origin, 1);
    await ProcessVisitor.arrive(run.address);
    const { cookie } = await ProcessVisitor.arrive(run.address);
    const { hostname, port } = new URL(run.address);
    const socket = connect(Number(port), hostname);
    socket.write(`GET /.fairgate/main/events HTTP/1.1\r\nHost: ${hostname}\r\n`);
    await once(socket, "connect");
    // One thread reads both in turn, so after this answer it has read the first half of the request.
    assert.ok((await fetch(`${run.address}/.fairgate/main/board`)).ok);
    run.child.kill("SIGTERM");
    await eventually("new connections are refused", async () => !(await isListening(run.address)));
    socket.write(`Cookie: ${cookie}\r\n\r\n`);
    socket.resume();
    assert.deepEqual(await ended(run), { code: 0, signal: null });
    socket.destroy();
  });

  test("an idle keep-alive connection does not delay the stop", async () => {
    await using origin = await TestOrigin.open();
    await using run = await startUnhurried(origin, 2);
    const agent = new Agent({ keepAlive: true });
    await new Promise<void>((resolve, reject) => {
      get(run.address, { agent }, (response) => response.resume().on("end", resolve)).on("error", reject);
    });
    run.child.kill("SIGTERM");
    assert.deepEqual(await ended(run), { code: 0, signal: null });
    agent.destroy();
  });
});

/** A download whose first half has arrived. */
async function startDownload(run: Run): Promise<{ text(): Promise<string> }> {
  const visitor = await ProcessVisitor.arrive(run.address);
  const answer = await visitor.begin("/download");
  const [first] = (await once(answer, "data")) as [Buffer];
  return { text: async () => String(first) + (await text(answer)) };
}

/** A gateway that waits far longer for requests in progress than any test does. */
async function startUnhurried(origin: TestOrigin, totalActiveUsers: number): Promise<Run> {
  await using parts = new AsyncDisposableStack();
  const settings = {
    origin: { addresses: [origin.address] },
    rooms: { main: { totalActiveUsers } },
    limits: { shutdownTimeout: "1h" },
  };
  const folder = parts.use(ownFolder({ "fairgate.yaml": JSON.stringify(settings) }));
  const run = parts.use(await startRun([], { cwd: folder.path }));
  const whole = parts.move();
  return { ...run, [Symbol.asyncDispose]: () => whole.disposeAsync() };
}

/** How it ended; or that it has not. */
function ended(run: Run): Promise<Ended | string> {
  const tooLate = new Promise<string>((resolve) => {
    setTimeout(resolve, GIVE_UP_MS, "it did not end").unref();
  });
  return Promise.race([run.child.ended, tooLate]);
}
