import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import { DEFAULT_NODE_SETTINGS } from "../engines/cluster/node-settings.ts";

test("a settings file that says nothing of them gives a node the shipped defaults, which the simulator runs", () => {
  const result = settingsFrom(
    {
      secret: "0123456789abcdef0123456789abcdef",
      cluster: { listen: "127.0.0.1:7100", join: [] },
      rooms: { main: { totalActiveUsers: 100 } },
    },
    { environment: {}, readFile: () => "", needsOrigin: false },
  );
  assert.ok(result.ok, JSON.stringify(result));
  const { intervalMs, reclaimAfterMs, skewMaxMs } = result.settings.cluster!;
  const shipped = DEFAULT_NODE_SETTINGS;
  assert.deepEqual(
    { intervalMs, reclaimAfterMs, skewMaxMs },
    {
      intervalMs: shipped.intervalMs,
      reclaimAfterMs: shipped.reclaimAfterMs,
      skewMaxMs: shipped.skewMaxMs,
    },
  );
});
