import assert from "node:assert/strict";
import { test } from "node:test";
import { LOG_EVERY_MS, LogPace } from "./log-pace.ts";

test("the first is told at once, the rest once a second with their number", () => {
  const pace = new LogPace();
  assert.equal(pace.add(0), 1);
  assert.equal(pace.add(1), 0);
  assert.equal(pace.add(LOG_EVERY_MS - 1), 0);
  assert.equal(pace.add(LOG_EVERY_MS), 3);
  assert.equal(pace.add(LOG_EVERY_MS + 1), 0);
});

test("the last count is returned to a later call, once", () => {
  const pace = new LogPace();
  pace.add(0);
  pace.add(1);
  assert.equal(pace.due(LOG_EVERY_MS - 1), 0);
  assert.equal(pace.due(LOG_EVERY_MS), 1);
  assert.equal(pace.due(2 * LOG_EVERY_MS), 0);
});
