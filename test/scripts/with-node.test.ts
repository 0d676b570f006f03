/** Every npm script begins with a file that even an old Node can read. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Child } from "../../src/testing/cli/child.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const OLD = `data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.1.0" } })`;

test("npm scripts say in one sentence that Node is too old to start them", async () => {
  const child = new Child(process.execPath, ["--import", OLD, join(ROOT, "scripts/with-node.mjs"), "start"]);
  assert.deepEqual(await child.ended, { code: 2, signal: null });
  assert.equal(
    child.err,
    "Fairgate's npm scripts need Node 20 or newer, and this is Node 18.1.0: get a newer one from https://nodejs.org.\n",
  );
});

test("every npm script begins with that file", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
  for (const [name, script] of Object.entries(scripts))
    assert.equal(script, `node scripts/with-node.mjs ${name}`);
});
