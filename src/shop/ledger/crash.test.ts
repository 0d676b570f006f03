/** A sale killed with -9 again and again: real processes on a real disk, counted from outside. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { playKilledSale } from "../../testing/shop/killed-sale.ts";

const KILLS = 20;
const LINES_MAX = 600;
/** Only reached when something hangs. */
const HUNG_MS = 600_000;

test("kill -9 loses nothing that was acknowledged, sells nothing twice, and leaks no stock", {
  timeout: HUNG_MS,
}, async (t) => {
  const root = mkdtempSync(join(tmpdir(), "shop-crash-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const seed = Math.floor(Math.random() * 2 ** 31);
  const directory = join(root, "store");
  const outcome = await playKilledSale({ directory, kills: KILLS, seed, linesMax: LINES_MAX });
  assert.deepEqual(outcome.violations, [], `seed ${seed}`);
  assert.ok(outcome.orders > 0 && outcome.answers > KILLS, "there was a sale");
});
