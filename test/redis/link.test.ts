/** The link to a Redis that stands alone: what is sent, in which order, and what is said when something is wrong. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { UNANSWERED_MAX } from "../../src/engines/redis/link-connection.ts";
import { eventually, GIVE_UP_MS } from "../cli/eventually.ts";
import {
  library,
  openTestLink,
  problemFrom,
  refusedAtOnce,
  untilAnswered,
  untilProblem,
} from "./open-link.ts";
import { startRedis } from "./servers.ts";

/** They mostly wait, and each has processes of its own. */
const AT_A_TIME = 5;

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
    const alone = await problemFrom(link.callKept("add", "list", ["1"], 1, 50));
    assert.equal(alone.kind, "slow");
    assert.equal(alone.wasRefused, false);
    assert.match(alone.message, /0 of 1 replicas/);
    assert.equal(link.problem?.message, alone.message);
    await replica.command("REPLICAOF", "127.0.0.1", redis.port);
    // By itself: nobody calls.
    await untilProblem(link, null);
    assert.deepEqual(await link.callKept("add", "list", ["2"], 1, 2_000), [2, "2"]);
    assert.deepEqual(await replica.command("LRANGE", "list", 0, -1), ["1", "2"]);
    // Kept and other calls keep their order, also when the function was missing.
    await redis.command("FUNCTION", "FLUSH");
    const mixed = numbers(40).map((n) =>
      Number(n) % 3 === 0 ? link.callKept("add", "mixed", [n], 1, 2_000) : link.call("add", "mixed", [n]),
    );
    await Promise.all(mixed);
    assert.deepEqual(await link.call("read", "mixed", []), numbers(40));
  });

  test("more calls than may wait are turned away at once", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    redis.pause();
    const waiting = Array.from({ length: UNANSWERED_MAX }, () => link.call("number", "k", []));
    const outcomes = Promise.allSettled(waiting);
    const refused = await refusedAtOnce(link.call("number", "k", []));
    assert.equal(refused.kind, "slow");
    assert.match(refused.message, /so no more are sent/);
    redis.resume();
    const answered = (await outcomes).filter(({ status }) => status === "fulfilled").length;
    assert.ok(answered > UNANSWERED_MAX / 2, `${answered} were answered`);
    assert.deepEqual(await link.call("number", "k", []), [7]);
  });
});

describe("when something is wrong", { concurrency: AT_A_TIME }, () => {
  test("a link opens while Redis is away, refuses at once, and is there when Redis is", async () => {
    await using redis = await startRedis();
    await redis.kill();
    await using link = await openTestLink([redis.port], { problem: "away" });
    assert.ok(link.problem);
    assert.match(link.problem.message, new RegExp(`127.0.0.1:${redis.port} refuses connections`));
    const refused = await refusedAtOnce(link.call("add", "list", ["1"]));
    assert.equal(refused.message, link.problem.message);
    assert.equal((await refusedAtOnce(link.callKept("add", "list", ["1"], 1, 50))).kind, "away");
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
    await using link = await openTestLink([redis.port], { timeoutMs: 200 });
    await link.call("add", "list", ["1"]);
    redis.pause();
    const slow = await problemFrom(link.call("add", "list", ["2"]));
    assert.deepEqual([slow.kind, slow.wasRefused], ["slow", false]);
    assert.equal(link.problem?.kind, "slow");
    // Not sent at all once the connection is given up.
    await eventually("calls are refused", async () => {
      const { wasRefused, kind } = await problemFrom(link.call("add", "list", ["3"]));
      assert.equal(kind, "slow");
      return wasRefused;
    });
    await refusedAtOnce(link.call("add", "list", ["3"]));
    redis.resume();
    await untilProblem(link, null);
    await link.call("add", "list", ["4"]);
  });

  test("one that stood still for a moment only is well again without a new connection", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port], { timeoutMs: 400 });
    const id = await link.command(null, ["CLIENT", "ID"]);
    redis.pause();
    assert.equal((await problemFrom(link.call("add", "list", ["1"]))).kind, "slow");
    redis.resume();
    await untilProblem(link, null);
    assert.equal(await link.command(null, ["CLIENT", "ID"]), id);
    assert.deepEqual(await link.call("read", "list", []), ["1"]);
  });

  test("a dead connection is found though nobody calls", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port], { timeoutMs: 200 });
    redis.pause();
    await untilProblem(link, "slow");
    redis.resume();
    await untilProblem(link, null);
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
      JSON.stringify(await replica.command("FUNCTION", "LIST")).includes(library.name),
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
    assert.doesNotMatch(link.problem?.message ?? "", /secret/);
    await redis.command("ACL", "SETUSER", "gate", "+@scripting");
    await untilProblem(link, null);
    await link.call("add", "list", ["1"]);
  });

  test("a Redis that is still loading is waited for", async () => {
    // Each key takes a while, and questions are looked at in between.
    const slowly = ["--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024"];
    await using redis = await startRedis({ args: slowly });
    const value = "x".repeat(2_000);
    for (let i = 0; i < 10; i++)
      await redis.command("MSET", ...numbers(6).flatMap((n) => [`${i}-${n}`, value]));
    await redis.command("CONFIG", "SET", "rdbcompression", "no");
    await redis.command("SAVE");
    await using link = await openTestLink([redis.port]);
    await redis.restart();
    await untilProblem(link, null);
    assert.ok(
      link.told.some((problem) => problem?.kind === "loading"),
      link.told.map((problem) => problem?.message).join("\n"),
    );
    assert.equal(await link.command("0-0", ["GET", "0-0"]), value);
  });

  test("a script that does not end makes Redis slow, until it is ended", async () => {
    await using redis = await startRedis({ args: ["--busy-reply-threshold", "50"] });
    await using link = await openTestLink([redis.port], { timeoutMs: 400 });
    const looping = problemFrom(link.call("loop", "k", []));
    await using other = await openTestLink([redis.port], { timeoutMs: 400, problem: "slow" });
    assert.equal((await looping).kind, "slow");
    await redis.command("FUNCTION", "KILL");
    await untilProblem(link, null);
    await untilProblem(other, null);
    await link.call("add", "list", ["1"]);
  });

  test("the connection may be encrypted, and a certificate that is not trusted is refused", async () => {
    const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
    const [certificate, key] = [fixture("localhost.cert.pem"), fixture("localhost.key.pem")];
    await using redis = await startRedis();
    const files = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate];
    const tlsPort = redis.port + 11_000;
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
});

describe("hearing", { concurrency: AT_A_TIME }, () => {
  const record = () => {
    const heard: string[] = [];
    return {
      heard,
      ear: { onMessage: (text: string) => void heard.push(text), onGap: () => void heard.push("(gap)") },
    };
  };
  /** Publishes until somebody has it. */
  const publish = (
    redis: { command: (...words: string[]) => Promise<unknown> },
    channel: string,
    text: string,
  ) =>
    eventually(
      `somebody hears ${text}`,
      async () => Number(await redis.command("PUBLISH", channel, text)) > 0,
    );

  test("messages come in order to all who hear the channel, and to nobody else", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    const [one, same, other] = [record(), record(), record()];
    link.hear("one", one.ear);
    const stop = link.hear("one", same.ear);
    link.hear("other", other.ear);
    await publish(redis, "one", "a");
    await publish(redis, "other", "b");
    for (const text of ["c", "d"]) await redis.command("PUBLISH", "one", text);
    await eventually("all is heard", () => one.heard.length === 3 && other.heard.length === 1);
    assert.deepEqual([one.heard, same.heard, other.heard], [["a", "c", "d"], ["a", "c", "d"], ["b"]]);
    stop();
    const late = record();
    link.hear("one", late.ear);
    await redis.command("PUBLISH", "one", "e");
    await eventually("the last is heard", () => one.heard.length === 4 && late.heard.length === 1);
    assert.deepEqual(same.heard, ["a", "c", "d"]);
  });

  test("after a new connection there is one gap, and messages come again", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    const [first, second] = [record(), record()];
    link.hear("news", first.ear);
    await publish(redis, "news", "a");
    await eventually("a is heard", () => first.heard.includes("a"));
    await redis.kill();
    await untilProblem(link, "away");
    // Who begins while Redis is away has missed nothing.
    link.hear("news", second.ear);
    await redis.restart();
    await publish(redis, "news", "b");
    await eventually("b is heard", () => second.heard.includes("b"));
    assert.deepEqual(first.heard, ["a", "(gap)", "b"]);
    assert.deepEqual(second.heard, ["b"]);
    await untilProblem(link, null);
  });

  test("a connection that is cut under the listener is made again, and calls are not disturbed", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    const { heard, ear } = record();
    link.hear("news", ear);
    await publish(redis, "news", "a");
    await redis.command("CLIENT", "KILL", "TYPE", "pubsub");
    await link.call("add", "list", ["1"]);
    await eventually("the gap is told", () => heard.includes("(gap)"));
    await redis.command("PUBLISH", "news", "b");
    await eventually("b is heard", () => heard.includes("b"));
    assert.deepEqual(heard, ["a", "(gap)", "b"]);
    await untilProblem(link, null);
  });

  test("a listener that fails is logged and harms nobody", async () => {
    await using redis = await startRedis();
    await using link = await openTestLink([redis.port]);
    const { heard, ear } = record();
    const fail = () => {
      throw new Error("a fault of the listener's own");
    };
    link.hear("news", { onMessage: fail, onGap: fail });
    link.hear("news", ear);
    link.onProblem(fail);
    await publish(redis, "news", "a");
    await redis.kill();
    await redis.restart();
    await publish(redis, "news", "b");
    await eventually("b is heard", () => heard.includes("b"));
    await untilProblem(link, null);
    assert.deepEqual(heard, ["a", "(gap)", "b"]);
    const failures = link.entries.filter(({ level }) => level === "error").map(({ message }) => message);
    assert.ok(failures.includes("a listener to Redis failed"));
    assert.ok(failures.includes("a listener to the problems of Redis failed"));
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
    await using link = await openTestLink([redis.port], { timeoutMs: 200 });
    redis.pause();
    const under = problemFrom(link.call("add", "list", ["1"]));
    await link.close();
    assert.equal((await under).wasRefused, false);
    redis.resume();
  });

  test("a process whose links are closed ends by itself, whether Redis was there or not", async () => {
    await using redis = await startRedis();
    await using away = await startRedis();
    await away.kill();
    const program = `
      import { openTestLink } from ${JSON.stringify(new URL("open-link.ts", import.meta.url).href)};
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
