/** `fairgate health`: the command for health checks of containers and supervisors. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fairgate, startRun } from "../../src/testing/cli/fairgate.ts";
import { startRedis } from "../../src/testing/redis/servers.ts";

test("`health` needs no token, and distinguishes alive, ready and gone", async () => {
  await using redis = await startRedis();
  const args = ["--origin", "http://127.0.0.1:1", "--total-active-users", "1", "--redis", redis.url];
  await using run = await startRun(args);
  const where = ["--control", new URL(run.control.address).host];
  const alive = await fairgate(["health", ...where]);
  assert.deepEqual([alive.code, alive.out], [0, "Fairgate is alive.\n"]);
  const ready = await fairgate(["health", "--ready", "--json", ...where]);
  assert.deepEqual([ready.code, JSON.parse(ready.out)], [0, { isReady: true, reasons: [] }]);
  await redis.stop();
  const notReady = await fairgate(["health", "--ready", ...where]);
  assert.deepEqual([notReady.code, notReady.err], [1, "The engine does not answer.\n"]);
  assert.equal((await fairgate(["health", ...where])).code, 0);
  await run.child.end("SIGKILL");
  const gone = await fairgate(["health", ...where]);
  assert.equal(gone.code, 1);
  assert.match(gone.err, /^Nobody listens at 127\.0\.0\.1:\d+/);
});
