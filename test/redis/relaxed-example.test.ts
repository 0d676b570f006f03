/** The examples in docs/relaxed.md and docs/library.md run as they are, against a Redis of the test's own. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Child } from "../../src/testing/cli/child.ts";
import { ownFolder } from "../../src/testing/cli/fairgate.ts";
import { startRedis } from "../../src/testing/redis/servers.ts";
import { blocksOf } from "../docs/blocks.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const EXAMPLES: readonly (readonly [page: string, sent: readonly string[]])[] = [
  ["relaxed.md", ["sending the newsletter", "sending the password reset"]],
  ["library.md", ["sending the password reset"]],
];

for (const [page, expected] of EXAMPLES) {
  test(`the example in docs/${page} pops what it added, commits it, and ends`, async () => {
    await using server = await startRedis();
    using folder = ownFolder();
    const document = readFileSync(join(ROOT, "docs", page), "utf8");
    const example = blocksOf(document).find(
      ({ language, text }) => language === "ts" && text.includes("await openRelaxedQueue"),
    );
    assert.match(example!.text, /redis:\/\/127\.0\.0\.1:6379/);
    mkdirSync(join(folder.path, "node_modules", "fairgate"), { recursive: true });
    folder.write("package.json", '{ "type": "module" }');
    folder.write(
      "node_modules/fairgate/package.json",
      '{ "type": "module", "exports": { "./relaxed": "./relaxed.js" } }',
    );
    folder.write("node_modules/fairgate/relaxed.js", `export * from "file://${ROOT}src/relaxed.ts";`);
    folder.write("example.ts", example!.text.replace("redis://127.0.0.1:6379", server.url));
    await using child = new Child(process.execPath, ["example.ts"], { cwd: folder.path });
    assert.deepEqual(await child.ended, { code: 0, signal: null }, child.err);
    const sent = child.out.split("\n").filter((line) => line.startsWith("sending"));
    assert.deepEqual(sent.sort(), expected);
    assert.equal(
      await server.command("EXISTS", ...[0, 1, 2, 3, 4, 5, 6, 7].map((i) => `fairgate:{mail:${i}}:payload`)),
      0,
    );
  });
}

test("the package has the entry point that the example imports", () => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { exports: object };
  assert.deepEqual((exports as Record<string, unknown>)["./relaxed"], {
    types: "./dist/relaxed.d.ts",
    default: "./dist/relaxed.js",
  });
});
