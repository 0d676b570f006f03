/** The control address of a running process: what an operator sees and does there, and how it reaches visitors. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { Control, ownFolder, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor, readBoard } from "../../src/testing/cli/visitor.ts";
import { startRedis } from "../../src/testing/redis/servers.ts";

describe("the control address", { concurrency: 3 }, () => {
  test("tells health to everyone, and the rest only to those with the token", async () => {
    await using stage = await open();
    const { control } = stage.run;
    assert.equal((await fetch(`${control.address}/healthz`)).status, 200);
    assert.equal((await fetch(`${control.address}/readyz`)).status, 200);
    assert.equal((await fetch(`${control.address}/rooms`)).status, 401);
    assert.equal((await new Control(control.address, "a-wrong-token").ask("GET", "/rooms")).status, 401);
    assert.equal(
      (await fetch(`${stage.run.address}/rooms`)).status,
      200,
      "visitors' address: that is the site",
    );
  });

  test("counts who waits and who is on the site", async () => {
    await using stage = await open();
    await stage.arrive(3);
    const { waiting, onSite } = await stage.run.control.counts();
    assert.deepEqual({ waiting, onSite }, { waiting: 2, onSite: 1 });
  });

  test("pausing shows on the board and lets nobody in until it is opened", async () => {
    await using stage = await open();
    const { control, address } = stage.run;
    const [onSite, waiting] = await stage.arrive(2);
    const pause = await control.ask("POST", "/rooms/main/pause", { message: "Back in five minutes." });
    assert.equal(pause.status, 200);
    const board = await eventually("the board says paused", async () => {
      const { state, message } = await readBoard(address);
      return state === "paused" && message;
    });
    assert.equal(board, "Back in five minutes.");
    await onSite!.leave();
    assert.equal((await waiting!.come()).isIn, false);
    assert.equal((await ProcessVisitor.arrive(address)).standing.isIn, false);
    assert.equal((await control.ask("POST", "/rooms/main/open", { message: "" })).status, 200);
    await eventually("the first in line goes in", () => waiting!.isIn());
    assert.equal((await readBoard(address)).state, "queueing");
  });

  test("a change of settings takes effect at once, and a bad one not at all", async () => {
    await using stage = await open();
    const { control } = stage.run;
    const [, first, second] = await stage.arrive(3);
    const bad = await control.ask<{ problems: { path: string; message: string }[] }>("PATCH", "/rooms/main", {
      totalActiveUsers: -4,
      sesionDuration: "5m",
    });
    assert.equal(bad.status, 422);
    assert.equal(bad.body.problems.length, 2, bad.text);
    assert.equal((await first!.come()).isIn, false);
    const good = await control.ask("PATCH", "/rooms/main", { totalActiveUsers: 3 });
    assert.equal(good.status, 200);
    await eventually("both are let in", async () => (await first!.isIn()) && (await second!.isIn()));
    const { body } = await control.ask<{ settings: { totalActiveUsers: number } }>("GET", "/rooms/main");
    assert.equal(body.settings.totalActiveUsers, 3);
  });

  test("a suspended and drained room lets in newcomers and those on the waiting page", async () => {
    await using stage = await open();
    const { control, address } = stage.run;
    const [, waiting] = await stage.arrive(2);
    const out = { suspended: true, drained: true, paused: false, closed: false };
    assert.equal((await control.ask("PATCH", "/rooms/main", out)).status, 200);
    assert.equal((await ProcessVisitor.arrive(address)).standing.isIn, true);
    await eventually(
      "the waiting page gets its turn",
      async () => (await waiting!.call("enter")).status === "entered",
    );
    assert.equal(
      (await control.ask("PATCH", "/rooms/main", { suspended: false, drained: false })).status,
      200,
    );
    assert.equal((await ProcessVisitor.arrive(address)).standing.isIn, false);
  });

  test("changes sent at the same time are all applied", async () => {
    await using stage = await open();
    const { control } = stage.run;
    const changes = [
      { message: "Tea" },
      { paused: true },
      { totalActiveUsers: 7 },
      { page: { title: "Shop" } },
      { page: { colour: "#123456" } },
      { sessionDuration: "9m" },
    ];
    const answers = await Promise.all(changes.map((change) => control.ask("PATCH", "/rooms/main", change)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      changes.map(() => 200),
    );
    interface Shown {
      readonly settings: Record<string, unknown> & { readonly page: Record<string, unknown> };
    }
    const { settings } = (await control.ask<Shown>("GET", "/rooms/main")).body;
    const { message, paused, totalActiveUsers, sessionDuration, page } = settings;
    assert.deepEqual(
      [message, paused, totalActiveUsers, sessionDuration, page.title, page.colour],
      ["Tea", true, 7, "9m", "Shop", "#123456"],
    );
  });

  test("ending a visit makes its holder join anew, behind those who wait", async () => {
    await using stage = await open();
    const [onSite, waiting] = await stage.arrive(2);
    const id = String(stage.origin.arrived[0]?.headers["fairgate-visitor"]);
    const path = `/rooms/main/sessions/${id}`;
    assert.equal((await stage.run.control.ask("DELETE", path)).status, 204);
    assert.equal((await onSite!.come()).isIn, false, "the pass is worth nothing any more");
    await eventually("the next in line has the place", () => waiting!.isIn());
    assert.equal((await stage.run.control.ask("DELETE", path)).status, 404, "nobody by that id is there now");
    await waiting!.leave();
    await eventually("and then comes in again", () => onSite!.isIn());
    assert.notEqual(stage.origin.arrived.at(-1)?.headers["fairgate-visitor"], id);
  });

  test("after a change of the signing key every pass and place is still good", async () => {
    await using stage = await open();
    const { control } = stage.run;
    const [onSite, first, second] = await stage.arrive(3);
    const cookies = [onSite, first, second].map((visitor) => visitor!.cookie);
    assert.equal((await control.ask("POST", "/keys/rotate")).status, 200);
    const { body } = await control.ask<{ keys: { isSigning: boolean }[] }>("GET", "/keys");
    assert.equal(body.keys.length, 2);
    assert.equal(body.keys.filter(({ isSigning }) => isSigning).length, 1);
    const late = await ProcessVisitor.arrive(stage.run.address);
    assert.equal(await late.ahead(), 2, "signed with the new key");
    [onSite, first, second].forEach((visitor, index) => {
      visitor!.cookie = cookies[index]!;
    });
    assert.equal(await onSite!.isIn(), true);
    assert.equal(await second!.ahead(), 1);
    await onSite!.leave();
    await eventually("the first in line goes in", () => first!.isIn());
    assert.equal(await late.ahead(), 1);
  });

  test("no password of Redis is shown here or in the log, and its address cannot be changed", async () => {
    await using origin = await TestOrigin.open();
    await using redis = await startRedis({ password: "hunter2" });
    const file = (password: string) =>
      `redis: { url: "redis://:${password}@127.0.0.1:${redis.port}", timeout: 1m }\norigin: { addresses: ["${origin.address}"] }\nrooms: { main: { totalActiveUsers: 1 } }\n`;
    using folder = ownFolder({ "fairgate.yaml": file("hunter2") });
    await using run = await startRun([], { cwd: folder.path });
    const change = { redis: { url: "redis://:hunter3@127.0.0.1" }, line: "relaxed", shards: 4 };
    const refusal = await run.control.ask<{ problems: { message: string }[] }>(
      "PATCH",
      "/rooms/main",
      change,
    );
    assert.equal(refusal.status, 422);
    assert.deepEqual(
      refusal.body.problems.map(({ message }) => message),
      [
        'there is no setting "redis"',
        "line cannot be changed while the room runs",
        "shards cannot be changed while the room runs",
      ],
    );
    folder.write("fairgate.yaml", file("hunter4"));
    run.child.kill("SIGHUP");
    await run.child.prints(/new settings (are in force|could not be put in force)/);
    const paths = ["/rooms", "/rooms/main", "/keys", "/metrics", "/openapi.json", "/readyz"];
    const answers = await Promise.all(paths.map((path) => run.control.ask("GET", path)));
    for (const { text } of [refusal, ...answers]) assert.doesNotMatch(text, /hunter/);
    assert.doesNotMatch(run.child.out + run.child.err, /hunter/);
  });

  test("metrics show the line to Prometheus", async () => {
    await using stage = await open();
    await stage.arrive(3);
    const { status, text } = await stage.run.control.ask("GET", "/metrics");
    assert.equal(status, 200);
    assert.match(text, /^# TYPE fairgate_\w+ (gauge|counter)$/m);
    assert.match(text, /^fairgate_\w*waiting\w*\{[^}]*room="main"[^}]*\} 2$/m);
  });
});

/** A site with a room for one visitor, and a line. */
async function open() {
  await using parts = new AsyncDisposableStack();
  const origin = parts.use(await TestOrigin.open());
  const run = parts.use(await startRun(["--origin", origin.address, "--total-active-users", "1"]));
  const whole = parts.move();
  return {
    origin,
    run,
    async arrive(count: number): Promise<ProcessVisitor[]> {
      const visitors: ProcessVisitor[] = [];
      for (let i = 0; i < count; i++) visitors.push(await ProcessVisitor.arrive(run.address));
      return visitors;
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}
