import assert from "node:assert/strict";
import { test } from "node:test";
import { fairgate } from "../../testing/cli/fairgate.ts";
import { type SiteFacts, sizingOf } from "./sizing.ts";

const SITE: SiteFacts = {
  ...{ requestsPerSecond: 100, pages: 8, requestsPerPage: 1, visitMs: 240_000, reserve: 0.2 },
  ...{ tickets: 5_000, buyers: 0.5, ticketsEach: 2 },
};

test("the limits follow from what the site bears", () => {
  assert.deepEqual(sizingOf(SITE), {
    ...{ requestsPerVisit: 8, visitsPerSecond: 10, newUsersPerMinute: 600, sessionDurationMs: 120_000 },
    ...{ totalActiveUsers: 3_600, soldOut: { visitors: 5_000, afterMs: 500_000 } },
  });
  // Long pages make long sessions, and a small site still lets somebody in.
  const small = sizingOf({ ...SITE, requestsPerSecond: 0.01, visitMs: 1_200_000, tickets: null });
  assert.deepEqual([small.sessionDurationMs, small.newUsersPerMinute, small.soldOut], [600_000, 1, null]);
});

test("`size` shows the formulas, the settings and the wait, and names every flag that is wrong", async () => {
  const site = ["--requests-per-second", "10", "--pages", "5", "--visit", "2m"];
  const [good, bad] = await Promise.all([
    fairgate(["size", ...site, "--tickets", "100", "--crowd", "400", "--over", "1m"]),
    fairgate(["size", "--pages", "many", "--json"]),
  ]);
  assert.equal(good.code, 0, good.err);
  assert.match(good.out, /^newUsersPerMinute +60 × 1\.6 = 96$/m);
  assert.match(good.out, /\n {4}totalActiveUsers: 384\n {4}newUsersPerMinute: 96\n {4}sessionDuration: 2m\n/);
  assert.match(good.out, /400 visitors within 1 min.*\nhalf wait less than .*\nat most \d+ wait at once/);
  assert.match(good.out, /sold before 300 of them have their turn/);
  assert.equal(bad.code, 2);
  assert.equal(JSON.parse(bad.out).problems.length, 3);
});
