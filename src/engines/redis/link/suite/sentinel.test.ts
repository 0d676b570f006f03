/** The link to a Redis that is watched by sentinels. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventually, GIVE_UP_MS } from "../../../../testing/cli/eventually.ts";
import {
  openTestLink,
  problemFrom,
  untilAnswered,
  untilProblem,
} from "../../../../testing/redis/open-link.ts";
import { bulk, list, pretendRedis } from "../../../../testing/redis/pretend-redis.ts";
import { type RedisSentinels, startRedis, startSentinels } from "../../../../testing/redis/servers.ts";
import type { RedisProblem } from "../problem.ts";

const AT_A_TIME = 4;
/** Far longer than a replica takes to confirm. */
const KEEP_MS = 30_000;

const serversOf = (sentinels: RedisSentinels) =>
  [sentinels.sentinelPorts, { mode: "sentinel", masterName: sentinels.name }] as const;

describe("a Redis watched by sentinels", { concurrency: AT_A_TIME }, () => {
  test("after the primary is killed, calls go to the next one, and nothing that was kept is lost", async () => {
    const password = "secret-of-servers";
    await using sentinels = await startSentinels({ password });
    const [ports, servers] = serversOf(sentinels);
    await using link = await openTestLink(ports, { ...servers, password });
    const heard: string[] = [];
    link.hear("news", { onMessage: (text) => heard.push(text), onGap: () => heard.push("(gap)") });
    const kept: string[] = [];
    const problems: RedisProblem[] = [];
    const keep = async (n: number) => {
      await link.call("add", "list", [`${n}`], { replicas: 1, timeoutMs: KEEP_MS }).then(
        () => kept.push(`${n}`),
        (problem: RedisProblem) => problems.push(problem),
      );
    };
    for (let n = 0; n < 20; n++) await keep(n);
    assert.equal(kept.length, 20);

    await sentinels.watchClosely();
    const old = await sentinels.primary();
    const inFlight = Promise.all(Array.from({ length: 200 }, (_, i) => keep(1_000 + i)));
    await old.kill();
    await inFlight;
    await untilAnswered(link, "add", "list", ["after"]);
    await untilProblem(link, null);

    const list = (await link.call("read", "list", [])) as string[];
    assert.deepEqual(
      kept.filter((n) => !list.includes(n)),
      [],
      "kept, and lost",
    );
    // Calls that surely did nothing left nothing behind, and no call was carried out twice.
    assert.equal(new Set(list).size, list.length);
    assert.notEqual((await sentinels.primary()).port, old.port);
    await keep(2_000);
    assert.equal(kept.at(-1), "2000");
    await eventually("the gap is told", () => heard.includes("(gap)"));
    await link.command(null, ["PUBLISH", "news", "after"]);
    await eventually("news are heard", () => heard.includes("after"));
    const said = JSON.stringify([link.told, problems.map(({ message }) => message), link.entries]);
    assert.doesNotMatch(said, /secret-of-servers/);
    for (const problem of problems) assert.ok(["away", "failover"].includes(problem.kind), problem.message);
  });

  test("a primary that stood still while another took over is not used again", async () => {
    await using sentinels = await startSentinels();
    const [ports, servers] = serversOf(sentinels);
    // Its silence alone would not be noticed in time.
    await using link = await openTestLink(ports, { ...servers, timeoutMs: GIVE_UP_MS });
    await untilAnswered(link, "add", "list", ["before"]);
    await sentinels.watchClosely();
    const old = await sentinels.primary();
    old.pause();
    const after = await eventually("another took over", async () => {
      const primary = await sentinels.primary();
      return primary.port !== old.port && primary;
    });
    await untilAnswered(link, "add", "list", ["after"]);
    old.resume();
    await untilProblem(link, null);
    // Each is on the one that the sentinels name.
    for (let n = 0; n < 20; n++) {
      await untilAnswered(link, "add", "list", [`${n}`]);
      assert.equal(String((await after.command("LRANGE", "list", -1, -1)) as string[]), `${n}`);
    }
  });

  test("of sentinels that do not agree, the one with the newest knowledge is believed", async () => {
    await using old = await startRedis();
    await using now = await startRedis();
    const saying = (port: number, epoch: number) => {
      const state = list(...["name", "any", "config-epoch", `${epoch}`].map(bulk));
      const address = list(bulk("127.0.0.1"), bulk(`${port}`));
      return pretendRedis((asked) => (asked.includes("GET-MASTER-ADDR") ? state + address : "+PONG\r\n"));
    };
    await using behind = await saying(old.port, 7);
    await using ahead = await saying(now.port, 8);
    for (const ports of [
      [behind.port, ahead.port],
      [ahead.port, behind.port],
    ]) {
      await using link = await openTestLink(ports, { mode: "sentinel", masterName: "any" });
      await untilAnswered(link, "add", "list", ["1"]);
    }
    assert.equal(await now.command("LLEN", "list"), 2);
    assert.equal(await old.command("LLEN", "list"), 0);
  });

  test("sentinels may be away as long as one answers; the name must be one they know", async () => {
    await using sentinels = await startSentinels();
    const [ports, servers] = serversOf(sentinels);
    await sentinels.sentinels[0]!.kill();
    sentinels.sentinels[1]!.pause();
    // Short, since the one that stands still is waited for each time.
    const quick = { ...servers, timeoutMs: 500 };
    await using link = await openTestLink(ports, quick);
    await untilAnswered(link, "add", "list", ["1"]);
    await using misnamed = await openTestLink(ports, { ...quick, masterName: "nobody", problem: "other" });
    assert.match(misnamed.problem?.message ?? "", /knows no primary by the name/);
    await sentinels.sentinels[2]!.kill();
    sentinels.sentinels[1]!.resume();
    await sentinels.sentinels[1]!.kill();
    // Links that are connected do not need the sentinels for now.
    assert.deepEqual(await untilAnswered(link, "number", "k"), [7]);
    await using late = await openTestLink(ports, { ...servers, problem: "away" });
    assert.match(late.problem?.message ?? "", /^The sentinel at 127.0.0.1:\d+ refuses connections/);
    assert.equal((await problemFrom(late.call("number", "k", []))).wasRefused, true);
  });
});
