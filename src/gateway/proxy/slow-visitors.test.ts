import assert from "node:assert/strict";
import { test } from "node:test";
import { limitsSchema } from "../../config/schema.ts";
import { handWorld } from "../../sim/hand-world.ts";
import { CUTS_PER_LOOK, type Flow, SlowVisitors } from "./slow-visitors.ts";

test("when hundreds wait for a connection, slow visitors are cut off a few at a time", () => {
  const world = handWorld();
  const limits = limitsSchema.parse({});
  const slow = new SlowVisitors(() => limits, world);
  const outside = new Set(Array.from({ length: 3 * CUTS_PER_LOOK }, (_, n) => n));
  const address = { waiting: { onSite: new Set(), outside } };
  for (const waiter of outside) {
    const flow: Flow = {
      judge() {},
      holdingUp: () => 0,
      cut() {
        slow.release(flow);
        outside.delete(waiter);
      },
    };
    slow.watch(flow);
  }
  const left = () => outside.size / CUTS_PER_LOOK;
  slow.press(address);
  assert.equal(outside.size, 3 * CUTS_PER_LOOK - 1, "whoever comes has one cut off at once");
  for (let looks = 0; left() > 0; looks++) {
    const before = left();
    world.pass(100);
    assert.ok(before - left() <= 1 && looks < 4);
  }
  slow.close();
});
