/** While the origin is away, each request fails; the log must not grow with every one of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openOrigin, openStage } from "../../testing/gateway/stage.ts";

const REQUESTS = 200;

test("a flood of requests to an origin that is away leaves one line a second of each kind, and counts all", async (t) => {
  const origin = await openOrigin(t);
  origin.server.close();
  const stage = await openStage(t, { origin, room: { totalActiveUsers: 1_000 } });
  const visitors = Array.from({ length: 20 }, () => stage.visitor());
  const flood = async () => {
    for (let n = 0; n < REQUESTS / visitors.length; n++)
      for (const { status } of await Promise.all(visitors.map((visitor) => visitor.open())))
        assert.ok(status === 502 || status === 503, `${status}`);
  };
  const seconds = 3;
  for (let second = 0; second < seconds; second++) {
    await flood();
    stage.world.pass(1_000);
  }
  stage.world.pass(1_000);
  const lines = stage.world.logged.filter(({ level }) => level !== "debug");
  const unanswered = lines.filter(({ message }) => message === "request not answered by the origin");
  const kinds = new Set(
    lines.map(({ message, fields }) => `${message} ${(fields as { code?: string }).code}`),
  );
  assert.ok(lines.length <= kinds.size * (seconds + 1), `${lines.length} lines of ${kinds.size} kinds`);
  const counted = unanswered.reduce(
    (sum, { fields }) => sum + ((fields as { count?: number }).count ?? 1),
    0,
  );
  assert.equal(counted, seconds * REQUESTS);
});
