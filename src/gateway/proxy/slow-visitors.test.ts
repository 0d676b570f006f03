import assert from "node:assert/strict";
import { test } from "node:test";
import { limitsSchema } from "../../config/schema.ts";
import { handWorld } from "../../sim/hand-world.ts";
import { CUTS_AT_ONCE, CUTS_EVERY_MS, SlowVisitors, type WatchedFlow } from "./slow-visitors.ts";

test("when hundreds wait for a connection, slow visitors are cut off a few at a time", () => {
  const world = handWorld();
  const limits = limitsSchema.parse({});
  const slow = new SlowVisitors(() => limits, world);
  const outside = new Set(Array.from({ length: 3 * CUTS_AT_ONCE }, (_, n) => n));
  const address = { waiting: { onSite: new Set(), outside }, greediest: () => null };
  for (const waiter of outside) {
    const flow: WatchedFlow = {
      judge() {},
      holdingUp: () => 0,
      cut() {
        slow.release(flow);
        outside.delete(waiter);
      },
    };
    slow.watch(flow);
  }
  const left = () => outside.size / CUTS_AT_ONCE;
  slow.press(address);
  assert.equal(outside.size, 3 * CUTS_AT_ONCE - 1, "a new request has one cut off at once");
  for (let rounds = 0; left() > 0; rounds++) {
    const before = left();
    world.pass(CUTS_EVERY_MS);
    assert.ok(before - left() <= 1 && rounds < 3);
  }
  slow.close();
});
