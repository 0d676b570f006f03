/** Small rules checked by machine: file names, headers, leftovers, and no word about where the code was written. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(root, file)));
const code = tracked.filter((file) => /\.(ts|mjs)$/.test(file));
const read = (file: string) => readFileSync(join(root, file), "utf8");

test("files are named in kebab-case for what they hold", () => {
  const vague = new Set(["utils", "helpers", "common", "types", "constants", "misc"]);
  const wrong = code.filter((file) => {
    const name = basename(file).replace(/(\.test|\.real|\.d)?\.(ts|mjs)$/, "");
    return !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || vague.has(name);
  });
  assert.deepEqual(wrong, []);
});

test("every source file starts with a header", () => {
  const sources = code.filter(
    (file) => file.startsWith("src/") && !file.endsWith(".test.ts") && !file.endsWith(".d.ts"),
  );
  const wrong = sources.filter((file) => !/^(#!.*\n)?(\/\*\*|\/\/)/.test(read(file)));
  assert.deepEqual(wrong, []);
});

test("nothing is left over or skipped", () => {
  const leftover = /\b(TODO|FIXME|XXX)\b|\b(it|test|describe)\.(skip|only|todo)\b|\bdebugger\b/;
  const wrong = code
    .filter((file) => !file.startsWith("test/tidy/"))
    .filter((file) => leftover.test(read(file)));
  assert.deepEqual(wrong, []);
});

test("no lock file names a registry", () => {
  const locks = tracked.filter((file) => basename(file) === "package-lock.json");
  assert.ok(locks.includes("package-lock.json"));
  assert.deepEqual(
    locks.filter((file) => /"resolved": "http/.test(read(file))),
    [],
  );
});
