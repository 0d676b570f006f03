/** docs/sizing.md: its example is what the command prints, and its sums are right. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { fairgate } from "../../src/testing/cli/fairgate.ts";
import { blocksOf, commandsOf } from "./blocks.ts";

const page = readFileSync(new URL("../../docs/sizing.md", import.meta.url), "utf8");
const blocks = blocksOf(page);
const example = blocks.find(({ language, text }) => language === "sh" && text.includes("fairgate size"))!;
const args = commandsOf(example)[0]!.split(/\s+/).slice(1);

test("the example of docs/sizing.md prints what the page shows", async () => {
  const { code, out, err } = await fairgate(args);
  assert.equal(code, 0, err);
  assert.equal(out, blocks.find(({ language }) => language === "text")?.text);
});

test("the sums of docs/sizing.md are right, and come to what the command gives", async () => {
  const rows = [...page.matchAll(/^\| ([^|]+) \| [^|]+ \| ([^|]*[\d)]) =\s([\d,]+) \|$/gm)];
  const sums = rows.map(([, name, sum, result]) => [name!, computed(sum!), computed(result!)] as const);
  for (const [name, sum, result] of sums) assert.equal(sum, result, name);
  const { out } = await fairgate([...args.slice(0, args.indexOf("--crowd")), "--json"]);
  const given = JSON.parse(out);
  assert.deepEqual(
    sums.map(([, , result]) => result),
    [
      ...[given.requestsPerVisit, given.visitsPerSecond, given.newUsersPerMinute],
      ...[given.sessionDurationMs / 1_000, given.slotMs / 1_000, given.onSite, given.totalActiveUsers],
      given.soldOut.afterMs / 1_000,
    ],
  );
});

/** What a sum in the page's own signs comes to. */
function computed(sum: string): number {
  const written = sum.replaceAll(",", "").replaceAll("×", "*").replaceAll("÷", "/");
  assert.match(written, /^[\d .*/+()√]+$/);
  return runInNewContext(written.replace(/√(\d+)/g, "Math.sqrt($1)"), { Math }) as number;
}
