/** What is published is heard over the link, and after a gap that is told. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventually } from "../../../../testing/cli/eventually.ts";
import { openTestLink, untilProblem } from "../../../../testing/redis/open-link.ts";
import { bulk, list, pretendRedis } from "../../../../testing/redis/pretend-redis.ts";
import { startRedis } from "../../../../testing/redis/servers.ts";

/** They mostly wait, and each has processes of its own. */
const AT_A_TIME = 5;

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

  test("the gap is told before the first message after it", async () => {
    // Confirmation and message come in one piece, and the first connection ends after them.
    const messages = ["b", "a"];
    await using redis = await pretendRedis((asked, socket) => {
      if (!asked.includes("subscribe")) return "-ERR only made for subscriptions\r\n";
      const message = messages.pop() ?? "more";
      if (message === "a") setImmediate(() => socket.end());
      const confirmed = list(bulk("subscribe"), bulk("news"), ":1\r\n");
      return confirmed + list(bulk("message"), bulk("news"), bulk(message));
    });
    await using link = await openTestLink([redis.port], { problem: "other" });
    const { heard, ear } = record();
    link.hear("news", ear);
    await eventually("both are heard", () => heard.includes("b"));
    assert.deepEqual(heard, ["a", "(gap)", "b"]);
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
