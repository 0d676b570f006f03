import assert from "node:assert/strict";
import { test } from "node:test";
import { type SiteFacts, sizingOf } from "./sizing.ts";

const SITE: SiteFacts = {
  ...{ requestsPerSecond: 100, pages: 8, requestsPerPage: 1, visitMs: 240_000, leave: 0, reserve: 0.2 },
  ...{ tickets: 5_000, buyers: 0.5, ticketsEach: 2 },
};

test("the limits follow from what the site bears", () => {
  assert.deepEqual(sizingOf(SITE), {
    ...{ requestsPerVisit: 8, visitsPerSecond: 10, newUsersPerMinute: 600, sessionDurationMs: 120_000 },
    ...{ slotMs: 360_000, onSite: 3_600, totalActiveUsers: 3_720 },
    soldOut: { visitors: 5_000, afterMs: 500_000 },
  });
});

test("visitors who say that they leave hold their slot for no session", () => {
  const { onSite, totalActiveUsers } = sizingOf({ ...SITE, leave: 0.5 });
  assert.deepEqual([onSite, totalActiveUsers], [3_000, 3_110]);
  assert.equal(sizingOf({ ...SITE, leave: 1 }).slotMs, SITE.visitMs);
});

test("long pages make long sessions, and a small site still lets somebody in", () => {
  const small = sizingOf({ ...SITE, requestsPerSecond: 0.01, visitMs: 1_200_000, tickets: null });
  assert.deepEqual([small.sessionDurationMs, small.newUsersPerMinute, small.soldOut], [600_000, 1, null]);
  assert.ok(small.totalActiveUsers >= small.onSite);
});
