/** Commands that operate a running Fairgate: real processes, which find its address and token by themselves. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { formatInstant } from "../../src/config/units.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { fairgate, ownFolder, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor, readBoard } from "../../src/testing/cli/visitor.ts";

const EVENTS = { events: [{ name: "sale", ...times(), shuffleAtEventStart: true }] };

function times(): object {
  const at = (hours: number) => formatInstant(Math.ceil(Date.now() / 1_000 + hours * 3_600) * 1_000);
  return { prequeueStartTime: at(1), eventStartTime: at(2), eventEndTime: at(3) };
}

/** A Fairgate with two rooms and a data directory, started without a token. */
async function open() {
  const origin = await TestOrigin.open();
  const folder = ownFolder({
    "fairgate.yaml": JSON.stringify({
      data: "./kept",
      origin: { addresses: [origin.address] },
      rooms: {
        main: { totalActiveUsers: 1, newUsersPerMinute: 600, ...EVENTS },
        vip: { path: "/vip", totalActiveUsers: 5 },
      },
    }),
  });
  const here = { cwd: folder.path, environment: { FAIRGATE_CONTROL_TOKEN: undefined } };
  const run = await startRun([], here).catch(async (cause) => {
    await origin[Symbol.asyncDispose]();
    throw cause;
  });
  return {
    run,
    type: (...args: string[]) => fairgate(args, here),
    token: readFileSync(`${folder.path}/kept/control-token`, "utf8").trim(),
    async [Symbol.asyncDispose]() {
      await run[Symbol.asyncDispose]();
      await origin[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

describe("operating a running Fairgate", () => {
  test("each command does what it says, and finds address and token by itself", async () => {
    await using stage = await open();
    const { run, type } = stage;
    const onSite = await ProcessVisitor.arrive(run.address);
    await ProcessVisitor.arrive(run.address);
    const id = (await onSite.ask("/")).text.match(/[0-9a-f]{32}/)?.[0] ?? "0".repeat(32);

    // Those that only look, at once.
    const [status, room, list, changes, draw, metrics, api, nobody, unknown, which] = await Promise.all([
      type("status"),
      type("status", "main", "--json"),
      type("keys"),
      type("changes"),
      type("draw", "sale", "--room", "main"),
      type("metrics", "--json"),
      type("api"),
      type("sessions", "end", "0".repeat(32)),
      type("pause", "mian"),
      type("pause"),
    ]);
    assert.match(
      status.out,
      /^Fairgate \S+ at 127\.0\.0\.1:\d+: ready, 2 rooms\n[\s\S]*\nmain +queueing +1 +1 of 1 /,
    );
    assert.match(status.out, /\norigin http:\/\/127\.0\.0\.1:\d+: up/);
    assert.equal(JSON.parse(room.out).counts.waiting, 1);
    assert.match(list.out, /^1 key\n\S+ {2}signs\n$/);
    assert.match(changes.out, /^Every change made at run time is in force\.\n$/);
    assert.match(draw.out, /^seedHash: [0-9a-f]{64}$/m);
    assert.ok(
      JSON.parse(metrics.out).metrics.some(({ name }: { name: string }) => name === "fairgate_engine_up"),
    );
    assert.ok(JSON.parse(api.out).paths["/rooms"]);
    assert.match(nobody.err, /^Nobody by that id is on the site of main, vip\.\n$/);
    assert.match(unknown.err, /^There is no such room\. There are: main, vip\.\n$/);
    assert.match(which.err, /^There are 2 rooms: main, vip\. Name one of them\.\n$/);
    for (const good of [status, room, list, changes, draw, metrics, api])
      assert.equal(good.code, 0, good.err);
    assert.deepEqual([nobody.code, unknown.code, which.code], [1, 2, 2]);

    // Those that change something, one after the other.
    assert.match((await type("pause", "main", "--message", "Back soon.")).out, /^main is paused/);
    const paused = await eventually("the board says so", async () => {
      const board = await readBoard(run.address);
      return board.state === "paused" && board;
    });
    assert.equal(paused.message, "Back soon.");
    const [rotated, bad, shut, told] = await Promise.all([
      type("keys", "rotate"),
      type("set", "main", "totalActiveUsers=-4", "sesionDuration=5m"),
      type("close", "vip"),
      type("message", "main", "We have opened more tills.", "--json"),
    ]);
    assert.match(rotated.out, /^Key \S+ signs from now on/);
    assert.equal(bad.code, 2);
    assert.match(
      bad.err,
      /^There are 2 problems\. Nothing was changed\.\n {2}totalActiveUsers .*\n {2}.*sesionDuration/,
    );
    assert.match(shut.out, /^vip is closed/);
    assert.equal(JSON.parse(told.out).ok, true);
    assert.match((await type("set", "main", "totalActiveUsers=2")).out, /^main totalActiveUsers: 1 → 2\n$/);
    assert.match((await type("open", "--all")).out, /^main is open.*\nvip is open/);
    const unasked = await type("drain", "vip");
    assert.deepEqual([unasked.code, unasked.err.includes("--yes")], [2, true]);
    assert.match((await type("drain", "vip", "--yes")).out, /^vip is drained/);
    const end = await type("sessions", "end", id);
    assert.match(end.out + end.err, /over in main|Nobody by that id/);
    assert.doesNotMatch(run.child.out + run.child.err, new RegExp(stage.token), "the token is in no log");
  });

  test("what cannot be reached is said in one sentence", async () => {
    using folder = ownFolder();
    const at = ["--control", "127.0.0.1:1"];
    const [away, tokenless] = await Promise.all([
      fairgate(["status", ...at], { environment: { FAIRGATE_CONTROL_TOKEN: "x".repeat(40) } }),
      fairgate(["status", "--json", ...at], { cwd: folder.path }),
    ]);
    assert.deepEqual([away.code, away.out], [1, ""]);
    assert.match(away.err, /^Nobody listens at 127\.0\.0\.1:1: start Fairgate, or say where it is [^\n]*\n$/);
    assert.equal(tokenless.code, 2);
    assert.match(JSON.parse(tokenless.out).error, /^There is no token for the control address/);
  });
});
