/** curl in front of a line: it gets an error and one line of text, and does not save a page under the file's name. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { originProgram } from "../../scripts/origins.ts";
import { CURL } from "../../scripts/real-sites.ts";
import { Child } from "../../src/testing/cli/child.ts";
import { ownFolder, type Run } from "../../src/testing/cli/fairgate.ts";
import { openGate } from "./gate.ts";
import { type NginxSites, openNginxSites, WORDS } from "./nginx-sites.ts";
import { enter } from "./program.ts";

let sites: NginxSites;
before(async () => {
  sites = await openNginxSites();
});
after(() => sites?.[Symbol.asyncDispose]());

/** Runs `curl -O` for a file, in a folder of its own; returns what it said and what it saved. */
async function download(gate: Run, ...options: string[]) {
  using folder = ownFolder();
  const write = ["--silent", "--write-out", "%{http_code} %{content_type} %header{retry-after}"];
  const child = new Child(originProgram(CURL), [...write, ...options, "-O", `${gate.address}/words.txt`], {
    cwd: folder.path,
  });
  const { code } = await child.ended;
  const saved = options.includes("--fail") ? "" : readFileSync(join(folder.path, "words.txt"), "utf8");
  return { code, said: child.out, saved };
}

describe("curl", () => {
  test("in a line it gets 429 and one line of text, or fails with --fail, and takes no place", async () => {
    await using gate = await openGate({ origins: [sites.files], room: { totalActiveUsers: 1 } });
    await enter(`${gate.address}/words.txt`);
    const { said, saved } = await download(gate);
    assert.match(said, /^429 text\/plain[^ ]*( charset=utf-8)? \d+$/);
    assert.match(saved, /^[^\n<]+\n$/);
    assert.equal((await download(gate, "--fail")).code, 22);
    assert.equal((await gate.control.counts()).waiting, 0);
  });

  test("it gets the file while there is room", async () => {
    await using gate = await openGate({ origins: [sites.files] });
    const { said, saved } = await download(gate);
    assert.match(said, /^200 text\/plain/);
    assert.equal(saved, WORDS);
  });
});
