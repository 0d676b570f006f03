/** What the link says and does when something is wrong with Redis, and how it is well again by itself. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { handWorld } from "../../../../sim/hand-world.ts";
import { eventually } from "../../../../testing/cli/eventually.ts";
import { fixturePath } from "../../../../testing/fixtures.ts";
import { openBadLine } from "../../../../testing/redis/bad-line.ts";
import {
  library,
  openTestLink,
  problemFrom,
  refusedAtOnce,
  TIMEOUT_MS,
  untilAnswered,
  untilProblem,
} from "../../../../testing/redis/open-link.ts";
import { bulk, pretendRedis } from "../../../../testing/redis/pretend-redis.ts";
import { startRedis } from "../../../../testing/redis/servers.ts";
import type { RedisProblem } from "../problem.ts";

/** They mostly wait, and each has processes of its own. */
const AT_A_TIME = 8;
/** Where it is waited for in real time; still longer than a busy machine takes. */
const SHORT_TIMEOUT_MS = 1_000;

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

describe("when something is wrong with Redis", { concurrency: AT_A_TIME }, () => {
  test("a link opens while Redis is away, refuses at once, and is there when Redis is", async () => {
    await using redis = await startRedis();
    await redis.kill();
    await using link = await openTestLink([redis.port], { problem: "away" });
    assert.ok(link.problem);
    assert.match(link.problem.message, new RegExp(`127.0.0.1:${redis.port} refuses connections`));
    const refused = await refusedAtOnce(link.call("add", "list", ["1"]));
    assert.equal(refused.message, link.problem.message);
    assert.equal(
      (await refusedAtOnce(link.call("add", "list", ["1"], { replicas: 1, timeoutMs: 50 }))).kind,
      "away",
    );
    assert.equal((await refusedAtOnce(link.command(null, ["PING"]))).kind, "away");
    await redis.restart();
    await untilProblem(link, null);
    assert.deepEqual(await link.call("add", "list", ["1"]), [1, "1"]);
  });

  test("kill -9: calls under way fail, later ones are refused at once, and after a restart all is well", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    await link.call("add", "list", ["1"]);
    redis.pause();
    const underWay = problemFrom(link.call("add", "list", ["2"]));
    // So that it is on the wire when the process dies.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await redis.kill();
    const failed = await underWay;
    assert.deepEqual([failed.kind, failed.wasRefused], ["away", false]);
    assert.equal((await refusedAtOnce(link.call("add", "list", ["3"]))).kind, "away");
    await redis.restart();
    await untilProblem(link, null);
    // It came back empty, without our functions.
    assert.deepEqual(await link.call("add", "list", ["4"]), [1, "4"]);
    assert.equal(link.told.at(-1), null);
  });

  test("a Redis that stands still is slow, then given up; when it goes on all is well", async () => {
    await using redis = await startRedis();
    const world = handWorld();
    await using link = await openTestLink([redis.port], { world });
    await link.call("add", "list", ["1"]);
    redis.pause();
    const waiting = problemFrom(link.call("add", "list", ["2"]));
    world.pass(TIMEOUT_MS);
    const slow = await waiting;
    assert.deepEqual([slow.kind, slow.wasRefused], ["slow", false]);
    assert.equal(link.problem?.kind, "slow");
    // Not sent at all once the connection is given up.
    world.pass(3 * TIMEOUT_MS);
    assert.equal((await refusedAtOnce(link.call("add", "list", ["3"]))).kind, "slow");
    redis.resume();
    await untilProblem(link, null, world);
    await link.call("add", "list", ["4"]);
  });

  test("one that stood still for a moment only is well again without a new connection", async () => {
    await using redis = await startRedis();
    const world = handWorld();
    await using link = await openTestLink([redis.port], { world });
    const id = await link.command(null, ["CLIENT", "ID"]);
    redis.pause();
    const waiting = problemFrom(link.call("add", "list", ["1"]));
    world.pass(TIMEOUT_MS);
    assert.equal((await waiting).kind, "slow");
    redis.resume();
    await untilProblem(link, null, world);
    assert.equal(await link.command(null, ["CLIENT", "ID"]), id);
    assert.deepEqual(await link.call("read", "list", []), ["1"]);
  });

  test("a dead connection is found though nobody calls", async () => {
    await using redis = await startRedis();
    const world = handWorld();
    await using link = await openTestLink([redis.port], { world });
    redis.pause();
    world.pass(2 * TIMEOUT_MS);
    assert.equal(link.problem?.kind, "slow");
    redis.resume();
    await untilProblem(link, null, world);
  });

  test("one that became a replica is read only, until it is a primary again", async () => {
    await using redis = await startRedis();
    await using other = await startRedis();
    await using link = await openTestLink([redis.port]);
    await link.call("add", "list", ["1"]);
    await redis.command("REPLICAOF", "127.0.0.1", other.port);
    const refused = await problemFrom(link.call("add", "list", ["2"]));
    assert.deepEqual([refused.kind, refused.wasRefused], ["readOnly", true]);
    await untilProblem(link, "readOnly");
    await redis.command("REPLICAOF", "NO", "ONE");
    await untilProblem(link, null);
    await untilAnswered(link, "add", "list", ["3"]);
  });

  test("a replica is not used though it has our functions", async () => {
    await using redis = await startRedis();
    await using replica = await startRedis();
    await using first = await openTestLink([redis.port]);
    await replica.command("REPLICAOF", "127.0.0.1", redis.port);
    await eventually("the replica has the functions", async () =>
      JSON.stringify(await replica.command("FUNCTION", "LIST")).includes(library.parts[0]!.name),
    );
    await using link = await openTestLink([replica.port], { problem: "readOnly" });
    assert.equal((await refusedAtOnce(link.call("add", "list", ["1"]))).kind, "readOnly");
    assert.equal(first.problem, null);
  });

  test("a Redis that wants replicas takes no writes, until it wants none", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    await redis.command("CONFIG", "SET", "min-replicas-to-write", 1);
    const refused = await problemFrom(link.call("add", "list", ["1"]));
    assert.deepEqual([refused.kind, refused.wasRefused], ["readOnly", true]);
    assert.match(link.problem?.message ?? "", /too few replicas/);
    await redis.command("CONFIG", "SET", "min-replicas-to-write", 0);
    // By itself: nobody calls.
    await untilProblem(link, null);
  });

  test("out of memory: what needs memory is refused, the rest goes on, and it passes by itself", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    await link.call("add", "list", ["1"]);
    await redis.command("CONFIG", "SET", "maxmemory", 1);
    const refused = await problemFrom(link.call("add", "list", ["2"]));
    assert.deepEqual([refused.kind, refused.wasRefused], ["outOfMemory", true]);
    assert.deepEqual(await link.call("read", "list", []), ["1"]);
    assert.equal(link.problem?.kind, "outOfMemory");
    // Who comes now finds the functions there, though loading them is refused too.
    await using late = await openTestLink([redis.port]);
    assert.deepEqual(await late.call("read", "list", []), ["1"]);
    await redis.command("CONFIG", "SET", "maxmemory", 0);
    await untilProblem(link, null);
    // The probe left the list as it was.
    assert.deepEqual(await link.call("read", "list", []), ["1"]);
  });

  test("out of memory is over as soon as the same function succeeds", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    await redis.command("CONFIG", "SET", "maxmemory", 1);
    await problemFrom(link.call("add", "list", ["1"]));
    await link.call("read", "list", []);
    assert.equal(link.problem?.kind, "outOfMemory");
    await redis.command("CONFIG", "SET", "maxmemory", 0);
    await link.call("add", "list", ["1"]);
    assert.equal(link.problem, null);
  });

  test("a wrong password is said, never shown, and once it is right all is well", async () => {
    const [wrong, right] = ["wrong-horse-battery", "right-horse-battery"];
    await using redis = await startRedis({ password: wrong });
    await using link = await openTestLink([redis.port], { password: right, problem: "password" });
    const refused = await refusedAtOnce(link.call("add", "list", ["1"]));
    assert.equal(refused.kind, "password");
    await redis.command("CONFIG", "SET", "requirepass", right);
    await untilProblem(link, null);
    await link.call("add", "list", ["1"]);
    const said = JSON.stringify([refused, refused.message, refused.stack, link.told, link.entries]);
    assert.doesNotMatch(said, /horse-battery/);
  });

  test("no password where one is wanted, and one where none is wanted", async () => {
    await using locked = await startRedis({ password: "secret-of-redis" });
    await using open = await startRedis();
    await using without = await openTestLink([locked.port], { problem: "password" });
    const unasked = { password: "secret-of-ours", problem: "password" } as const;
    await using withOne = await openTestLink([open.port], unasked);
    assert.match(without.problem?.message ?? "", /wants a password/);
    assert.match(withOne.problem?.message ?? "", /wants no password/);
  });

  test("a user who may not call functions is told so, and what they lack", async () => {
    await using redis = await startRedis();
    const rights = ["on", ">secret-of-user", "~*", "&*", "+@all", "-@scripting"];
    await redis.command("ACL", "SETUSER", "gate", ...rights);
    await using link = await openTestLink([redis.port], {
      username: "gate",
      password: "secret-of-user",
      problem: "noFunctions",
    });
    const said = link.problem?.message ?? "";
    assert.doesNotMatch(said, /secret/);
    // What is said to be needed is enough.
    const needed = said.match(/\+@?[a-z]+(?!\S*\|)/g) ?? [];
    assert.ok(needed.length > 5, said);
    await redis.command("ACL", "SETUSER", "gate", "-@all", ...needed);
    await untilProblem(link, null);
    await link.call("add", "list", ["1"]);
    assert.match(
      (await problemFrom(link.call("add", "list", ["2"], { replicas: 1, timeoutMs: 10 }))).message,
      /0 of 1 replicas/,
    );
    const heard: string[] = [];
    link.hear("news", { onMessage: (text) => heard.push(text), onGap: () => {} });
    await eventually("news are heard", async () => {
      await link.command(null, ["PUBLISH", "news", "a"]);
      return heard.length > 0;
    });
  });

  test("a Redis that is still loading is waited for", async () => {
    // Each key takes a while, until it is told otherwise, and questions are looked at in between.
    const slowly = ["--key-load-delay", "300000", "--loading-process-events-interval-bytes", "1024"];
    await using redis = await startRedis({ args: slowly });
    const value = "x".repeat(2_000);
    for (let i = 0; i < 10; i++)
      await redis.command("MSET", ...numbers(6).flatMap((n) => [`${i}-${n}`, value]));
    await redis.command("CONFIG", "SET", "rdbcompression", "no");
    await redis.command("SAVE");
    await using link = await openTestLink([redis.port]);
    const restarted = redis.restart();
    await untilProblem(link, "loading");
    await redis.command("CONFIG", "SET", "key-load-delay", 0);
    await restarted;
    await untilProblem(link, null);
    assert.equal(await link.command("0-0", ["GET", "0-0"]), value);
  });

  test("a Redis that is too old is said to be, and tried again", async () => {
    // Old ones cannot be had here, so this one only says that it is.
    await using old = await pretendRedis(() => bulk("redis_version:6.2.14\r\nrole:master\r\n"));
    await using link = await openTestLink([old.port], { problem: "tooOld" });
    assert.match(link.problem?.message ?? "", /is version 6\.2\.14: use Redis 7\.0 or later/);
    assert.equal((await refusedAtOnce(link.call("number", "k", []))).kind, "tooOld");
    await eventually("it is tried again", () => old.connections >= 2);
  });

  test("a script that does not end makes Redis slow, until it is ended", async () => {
    await using redis = await startRedis({ args: ["--busy-reply-threshold", "50"] });
    const world = handWorld();
    await using link = await openTestLink([redis.port], { world });
    const looping = problemFrom(link.call("loop", "k", []));
    // Told by Redis, while the one that waits for an answer has to find out by itself.
    await using other = await openTestLink([redis.port], { problem: "slow" });
    world.pass(TIMEOUT_MS);
    assert.equal((await looping).kind, "slow");
    await redis.command("FUNCTION", "KILL");
    await untilProblem(link, null, world);
    await untilProblem(other, null);
    await link.call("add", "list", ["1"]);
  });

  test("the connection may be encrypted, and a certificate that is not trusted is refused", async () => {
    const [certificate, key] = [fixturePath("localhost.cert.pem"), fixturePath("localhost.key.pem")];
    // A port that was free a moment ago.
    await using redis = await startRedis();
    const tlsPort = redis.port;
    await redis.kill();
    const files = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate];
    await using secured = await startRedis({
      args: [...files, "--tls-port", `${tlsPort}`, "--tls-auth-clients", "no"],
    });
    const ca = readFileSync(certificate, "utf8");
    await using link = await openTestLink([tlsPort], { tls: { ca, servername: "localhost" } });
    assert.equal(link.problem, null);
    await link.call("add", "list", ["1"]);
    await using distrusting = await openTestLink([tlsPort], {
      tls: { ca: null, servername: "localhost" },
      problem: "away",
    });
    await eventually("the certificate is refused", () =>
      /agree on TLS/.test(distrusting.problem?.message ?? ""),
    );
    await using plain = await openTestLink([tlsPort], { problem: "away" });
    await eventually("TLS is wanted", () => /whether it wants TLS/.test(plain.problem?.message ?? ""));
    assert.ok(secured.isRunning);
  });

  test("one whose answers all come too late stays slow, until they do not", async () => {
    // Time is moved by hand: what is too late is so however busy the machine is.
    const world = handWorld();
    await using redis = await startRedis();
    await using line = await openBadLine(redis.port, world.timers);
    await using link = await openTestLink([line.port], { world });
    using ending = new DisposableStack();
    ending.defer(() => line.delay(0));
    const told = () => link.told.map((problem) => problem?.kind ?? "well");

    line.delay(2 * TIMEOUT_MS);
    const calls: Promise<RedisProblem>[] = [];
    for (const n of numbers(20)) {
      calls.push(problemFrom(link.call("add", "list", [`late ${n}`])));
      await eventually("the answer is on its way", () => line.isDelaying(`late ${n}`));
      // So the answers to most of them come meanwhile.
      world.pass(TIMEOUT_MS / 2);
    }
    world.pass(TIMEOUT_MS);
    for (const { kind, wasRefused } of await Promise.all(calls))
      assert.deepEqual([kind, wasRefused], ["slow", false]);
    assert.equal(line.isDelaying("late 0"), false);
    assert.deepEqual(told(), ["slow"]);

    line.delay(0);
    assert.deepEqual(await link.call("add", "list", ["in time"]), [21, "in time"]);
    assert.deepEqual(told(), ["slow", "well"]);
    assert.equal(line.connections, 1);
  });

  test("connections that died without a word are made anew, for calls and for listening", async () => {
    await using redis = await startRedis();
    await using line = await openBadLine(redis.port);
    await using link = await openTestLink([line.port], { timeoutMs: SHORT_TIMEOUT_MS });
    const heard: string[] = [];
    link.hear("news", { onMessage: (text) => heard.push(text), onGap: () => heard.push("(gap)") });
    const untilHeard = (text: string) =>
      eventually(`${text} is heard`, async () => {
        await redis.command("PUBLISH", "news", text);
        return heard.includes(text);
      });
    await untilHeard("a");
    line.cut();
    await eventually("the gap is told", () => heard.includes("(gap)"));
    await untilAnswered(link, "add", "list", ["1"]);
    await untilProblem(link, null);
    await untilHeard("b");
    assert.ok(line.connections >= 4);
  });
});
