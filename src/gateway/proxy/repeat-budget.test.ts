import assert from "node:assert/strict";
import { test } from "node:test";
import { REPEATED_SHARE, REPEATS_PER_SECOND, RepeatBudget } from "./repeat-budget.ts";

test("repeats stay within what was saved, the share of requests and the few a second", () => {
  const savedMax = 50;
  const budget = new RepeatBudget(savedMax);
  const seconds = 20;
  let now = 1_000_000;
  let requests = 0;
  let repeats = 0;
  for (let ms = 0; ms < seconds * 1_000; ms += 10) {
    now += 10;
    budget.earn();
    requests++;
    // Each asks for two.
    for (let n = 0; n < 2; n++) if (budget.spend(now)) repeats++;
  }
  const most = savedMax + requests * REPEATED_SHARE + seconds * REPEATS_PER_SECOND;
  assert.ok(repeats <= most && repeats > most - 2, `${repeats} of at most ${most}`);
});

test("all that one address had under way can be repeated at once, and no more is ever saved", () => {
  const budget = new RepeatBudget(100);
  for (let n = 0; n < 10_000; n++) budget.earn();
  let repeats = 0;
  while (budget.spend(1_000_000)) repeats++;
  assert.equal(repeats, 100);
  assert.equal(budget.spend(1_000_099), false);
  assert.equal(budget.spend(1_000_100), true);
});
