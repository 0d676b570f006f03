import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { readLimits } from "./file-limit.ts";

const MODULE = new URL("./file-limit.ts", import.meta.url).href;

test("the limit that a process was started with is found", () => {
  const print = `import { fileLimit } from ${JSON.stringify(MODULE)}; console.log(fileLimit());`;
  const command = 'ulimit -n 333; exec "$0" --input-type=module -e "$1"';
  const out = execFileSync("sh", ["-c", command, process.execPath, print], { encoding: "utf8" });
  assert.equal(out.trim(), "333");
});

test("a limit of the kernel's text is read, and one that is none is infinite", () => {
  const line = (soft: string) =>
    `Max processes  5  5  processes\nMax open files            ${soft}    4096    files\n`;
  assert.equal(readLimits(line("1024")), 1_024);
  assert.equal(readLimits(line("unlimited")), Number.POSITIVE_INFINITY);
  assert.equal(readLimits("something else"), null);
});
