/** `fairgate size`: the formulas, the settings and the wait, and what it refuses. The whole output is in docs/sizing.md. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fairgate } from "../../src/testing/cli/fairgate.ts";

describe("fairgate size", { concurrency: 3 }, () => {
  test("shows the formulas, settings to paste and the wait, and says what it assumed", async () => {
    const site = ["--requests-per-second", "10", "--pages", "5", "--visit", "2m", "--leave", "50"];
    const sale = ["--tickets", "100", "--buy", "50%", "--crowd", "400", "--over", "1m"];
    const { code, out, err } = await fairgate(["size", ...site, ...sale]);
    assert.equal(code, 0, err);
    assert.match(out, /^newUsersPerMinute +60 × 1\.6 = 96$/m);
    assert.match(out, /^a slot is taken +2 min \+ 0\.5 × 2 min = 3 min$/m);
    assert.match(out, /\n {4}totalActiveUsers: 322\n {4}newUsersPerMinute: 96\n {4}sessionDuration: 2m\n/);
    assert.match(out, /enabledOriginCommands: \[revoke\]/);
    assert.match(out, /^Assumed: --requests-per-page 1, --reserve 20, --each 1\.$/m);
    assert.match(out, /When 400 come within 1 min: Everybody is in after [\s\S]*Nine in ten wait less than/);
    assert.match(out, /sold before 200 of them have their turn/);
  });

  test("--json gives the same for programs", async () => {
    const { out } = await fairgate(["size", "--crowd", "100", "--json"]);
    const { ok, facts, newUsersPerMinute, totalActiveUsers, sessionDurationMs, wait } = JSON.parse(out);
    assert.deepEqual([ok, facts.pages, facts.tickets, wait.crowd], [true, 8, null, 100]);
    assert.deepEqual([newUsersPerMinute, totalActiveUsers, sessionDurationMs], [600, 3_720, 120_000]);
  });

  test("names every flag that is wrong, and limits that no settings take", async () => {
    const asked = ["--pages", "many", "--visit", "5", "--leave", "120", "--crowd", "3000000"];
    const huge = [
      "--requests-per-second",
      "9000000",
      "--requests-per-page",
      "0.01",
      "--pages",
      "1",
      "--crowd",
      "9",
    ];
    const [bad, tooMuch] = await Promise.all([
      fairgate(["size", ...asked, "--json"]),
      fairgate(["size", ...huge]),
    ]);
    assert.deepEqual([bad.code, tooMuch.code], [2, 2]);
    assert.deepEqual(
      (JSON.parse(bad.out).problems as string[]).map((problem) => problem.split(" ")[0]),
      ["--pages", "--visit", "--leave", "--crowd"],
    );
    assert.match(tooMuch.err, /newUsersPerMinute is \d+/);
  });

  test("its help fits a screen", async () => {
    const { out } = await fairgate(["size", "--help"]);
    assert.ok(out.trimEnd().split("\n").length <= 24, out);
    assert.deepEqual(
      out.split("\n").filter((line) => line.length > 80),
      [],
    );
  });
});
