/** The link to a Redis that stands alone: what is sent, in which order, and how it ends. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { handWorld } from "../../../../sim/hand-world.ts";
import { GIVE_UP_MS } from "../../../../testing/cli/eventually.ts";
import {
  openTestLink,
  problemFrom,
  refusedAtOnce,
  TIMEOUT_MS,
  untilProblem,
} from "../../../../testing/redis/open-link.ts";
import { startRedis } from "../../../../testing/redis/servers.ts";
import { roomLibrary } from "../../library.ts";
import { UNANSWERED_MAX } from "../connection.ts";

/** They mostly wait, and each has processes of its own. */
const AT_A_TIME = 5;

/** Far longer than a replica takes to confirm. */
const KEPT_MS = 30_000;
/** A link looks at least this often for calls that are overdue. */
const LOOKS_EVERY_MS = 250;

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

describe("calls", { concurrency: AT_A_TIME }, () => {
  test("answers are numbers, texts, null and lists; what is no list comes as a list of one", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    assert.deepEqual(await link.call("answers", "k", []), [7, "text", null, [1, ["deep"]]]);
    assert.deepEqual(await link.call("number", "k", []), [7]);
    assert.equal(await link.command(null, ["PING"]), "PONG");
    assert.equal(await link.command("k", ["SET", "k", "ü€"]), "OK");
    assert.equal(await link.command("k", ["GET", "k"]), "ü€");
  });

  test("many calls at once are carried out in the order of calling", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    const wanted = numbers(5_000);
    const answers = await Promise.all(wanted.map((n) => link.call("add", "list", [n])));
    assert.deepEqual(
      answers,
      wanted.map((n, i) => [i + 1, n]),
    );
    assert.deepEqual(await link.call("read", "list", []), wanted);
  });

  test("a function that is missing is loaded, and the order of calling stays", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    const calls: Promise<unknown>[] = [];
    for (const n of numbers(300)) {
      if (Number(n) % 50 === 20) calls.push(link.command(null, ["FUNCTION", "FLUSH"]));
      calls.push(link.call("add", "list", [n]));
      // Some are called while the library is being loaded.
      if (Number(n) % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(calls);
    assert.deepEqual(await link.call("read", "list", []), numbers(300));
    assert.deepEqual(link.told, []);
  });

  test("the database that is set is used", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port], { database: 3 });
    await link.call("add", "list", ["1"]);
    assert.match(String(await redis.command("INFO", "keyspace")), /db3:keys=1/);
  });

  test("an error of a function's own concerns that call alone", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    const problem = await problemFrom(link.call("fail", "k", []));
    assert.equal(problem.kind, "other");
    assert.equal(problem.wasRefused, false);
    assert.match(problem.message, /this function always fails/);
    assert.equal(link.problem, null);
  });

  test("a call that must be kept waits for replicas, and says when there are too few", async () => {
    await using redis = await startRedis();
    await using replica = await startRedis();
    await using link = await openTestLink([redis.port]);
    const alone = await problemFrom(link.call("add", "list", ["1"], { replicas: 1, timeoutMs: 50 }));
    assert.equal(alone.kind, "slow");
    assert.equal(alone.wasRefused, false);
    assert.match(alone.message, /0 of 1 replicas/);
    assert.equal(link.problem?.message, alone.message);
    await replica.command("REPLICAOF", "127.0.0.1", redis.port);
    // By itself: nobody calls.
    await untilProblem(link, null);
    assert.deepEqual(await link.call("add", "list", ["2"], { replicas: 1, timeoutMs: KEPT_MS }), [2, "2"]);
    assert.deepEqual(await replica.command("LRANGE", "list", 0, -1), ["1", "2"]);
    // Kept and other calls keep their order, also when the function was missing.
    await redis.command("FUNCTION", "FLUSH");
    const mixed = numbers(40).map((n) =>
      Number(n) % 3 === 0
        ? link.call("add", "mixed", [n], { replicas: 1, timeoutMs: KEPT_MS })
        : link.call("add", "mixed", [n]),
    );
    await Promise.all(mixed);
    assert.deepEqual(await link.call("read", "mixed", []), numbers(40));
  });

  test("as many calls as may wait are sent again when their function is missing", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    await redis.command("FUNCTION", "FLUSH");
    const calls = numbers(UNANSWERED_MAX).map((n) => link.call("add", "list", [n]));
    const outcomes = await Promise.allSettled(calls);
    const done = numbers(UNANSWERED_MAX).filter((_, i) => outcomes[i]?.status === "fulfilled");
    assert.ok(done.length > UNANSWERED_MAX * 0.99, `${done.length} were answered`);
    assert.deepEqual(await link.call("read", "list", []), done);
  });

  test("of a library in two parts the one that is missing is loaded, and the other is left alone", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port], { library: roomLibrary() });
    const ask = () => Promise.all(["ended", "shards/ended"].map((name) => link.call(name, "room", [])));
    assert.deepEqual(await ask(), [[], []]);
    for (const { name } of roomLibrary().parts) {
      await redis.command("FUNCTION", "DELETE", name);
      assert.deepEqual(await ask(), [[], []], `without ${name}`);
    }
    await redis.command("FUNCTION", "FLUSH");
    assert.deepEqual(await ask(), [[], []]);
  });

  test("more calls than may wait are turned away at once", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    redis.pause();
    const waiting = Array.from({ length: UNANSWERED_MAX - 1 }, () => link.call("number", "k", []));
    const outcomes = Promise.allSettled(waiting);
    const refused = await refusedAtOnce(link.call("number", "k", []));
    assert.equal(refused.kind, "slow");
    assert.match(refused.message, /so no more are sent/);
    // Nor is the half of one sent for which there would be room.
    assert.equal(
      (await refusedAtOnce(link.call("add", "list", ["1"], { replicas: 1, timeoutMs: 50 }))).kind,
      "slow",
    );
    redis.resume();
    const answered = (await outcomes).filter(({ status }) => status === "fulfilled").length;
    assert.ok(answered > UNANSWERED_MAX / 2, `${answered} were answered`);
    assert.deepEqual(await link.call("number", "k", []), [7]);
  });
});

describe("the end", { concurrency: AT_A_TIME }, () => {
  test("closing lets what was sent be answered, refuses the rest, and may be done twice", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    const sent = Promise.all(numbers(500).map((n) => link.call("add", "list", [n])));
    const closing = link.close();
    const refused = await refusedAtOnce(link.call("add", "list", ["late"]));
    assert.match(refused.message, /closed/);
    await Promise.all([closing, link.close()]);
    assert.equal((await sent).length, 500);
    assert.equal(await redis.command("LLEN", "list"), 500);
    assert.deepEqual(link.told, []);
  });

  test("closing does not wait for ever for a Redis that stands still", async () => {
    await using redis = await startRedis();
    const world = handWorld();
    await using link = await openTestLink([redis.port], { world });
    redis.pause();
    const underWay = problemFrom(link.call("add", "list", ["1"]));
    const closing = link.close();
    world.pass(TIMEOUT_MS);
    await closing;
    assert.equal((await underWay).wasRefused, false);
    redis.resume();
  });

  test("a process whose links are closed ends by itself, whether Redis was there or not", async () => {
    await using redis = await startRedis();
    await using away = await startRedis();
    await away.kill();
    const program = `
      import { openTestLink } from ${JSON.stringify(new URL("../../../../testing/redis/open-link.ts", import.meta.url).href)};
      for (const port of [${redis.port}, ${away.port}]) {
        const link = await openTestLink([port], port === ${away.port} ? { problem: "away" } : {});
        link.hear("news", { onMessage() {}, onGap() {} });
        await link.call("number", "k", []).catch(() => {});
        await link.close();
      }
      console.log("closed");`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], {
      timeout: GIVE_UP_MS,
    });
    assert.equal(stdout, "closed\n");
  });
});

test("a process that stood still itself does not blame Redis", async () => {
  const world = handWorld();
  let stoodStillMs = 0;
  const clock = { now: () => world.clock.now() + stoodStillMs };
  await using redis = await startRedis();
  await using link = await openTestLink([redis.port], { world: { ...world, clock } });
  const call = link.call("number", "k", []);
  // Sent, and then no timer fires and nothing is read for far longer than the timeout.
  stoodStillMs = 10 * TIMEOUT_MS;
  world.pass(LOOKS_EVERY_MS);
  assert.deepEqual(await call, [7]);
  assert.deepEqual(link.told, []);
});
