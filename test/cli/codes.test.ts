/** `fairgate codes`: codes that get into a lane, made and explained with the secret that `run` uses. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fairgate, ownFolder, SECRET, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";

const CODE = /^[\w-]{48}$/;
const environment = { FAIRGATE_SECRET: SECRET };
const VIP = ["--room", "main", "--lane", "vip"];

const settings = (more = "", origin = "http://127.0.0.1:9") =>
  `origin:\n  addresses: ["${origin}"]\nrooms:\n  main:\n    totalActiveUsers: 1\n    lanes:\n      vip: {}\n${more}`;

describe("fairgate codes", { concurrency: 3 }, () => {
  test("what `new` prints is codes alone, and `check` knows them", async () => {
    using folder = ownFolder({ "fairgate.yaml": settings() });
    const here = { cwd: folder.path, environment };
    const { code, out, err } = await fairgate(["codes", "new", ...VIP, "--count", "3", "--once"], here);
    assert.deepEqual([code, err], [0, ""]);
    const lines = out.trimEnd().split("\n");
    assert.equal(lines.length, 3);
    for (const line of lines) assert.match(line, CODE);
    const good = await fairgate(["codes", "check", lines[0]!], here);
    assert.equal(good.code, 0);
    assert.match(good.out, /^good: for lane vip of room main, for one place/);
    const bad = await fairgate(["codes", "check", "nonsense"], here);
    assert.equal(bad.code, 1);
    assert.match(bad.out, /^malformed/);
  });

  test("a mistake in the command is reported on standard error, with exit code 2", async () => {
    using folder = ownFolder({ "fairgate.yaml": settings() });
    const here = { cwd: folder.path, environment };
    const { code, out, err } = await fairgate(["codes", "new", "--lane", "vpi"], here);
    assert.deepEqual([code, out], [2, ""]);
    assert.match(err, /Did you mean vip/);
    assert.equal((await fairgate(["codes", "check"], here)).code, 2);
  });

  test("missing settings or a missing secret are named, and no secret is generated", async () => {
    using empty = ownFolder();
    const without = await fairgate(["codes", "new"], { cwd: empty.path, environment });
    assert.deepEqual([without.code, without.out], [2, ""]);
    assert.match(without.err, /settings file/);
    using folder = ownFolder({ "fairgate.yaml": settings("data: kept\n") });
    const kept = await fairgate(["codes", "new", ...VIP], { cwd: folder.path });
    assert.deepEqual([kept.code, kept.out], [2, ""]);
    assert.match(kept.err, /There is no secret in .*kept yet/);
    assert.equal(existsSync(join(folder.path, "kept")), false);
  });

  test("a code gets its holder in before everybody else, and never reaches the site", async () => {
    await using origin = await TestOrigin.open();
    using folder = ownFolder({ "fairgate.yaml": settings("data: kept\n", origin.address) });
    // Fairgate has generated the secret itself.
    await using run = await startRun([], { cwd: folder.path, environment: { FAIRGATE_SECRET: undefined } });
    const made = await fairgate(["codes", "new", ...VIP, "--count", "2"], { cwd: folder.path });
    const [code, another] = made.out.trim().split("\n") as [string, string];
    assert.match(code, CODE);
    const bring = (path: string) =>
      fetch(`${run.address}${path}`, { headers: { accept: "application/json" }, redirect: "manual" });
    assert.equal((await bring(`/?a=1&fairgate_code=${code}`)).status, 200);
    const everybody = await ProcessVisitor.arrive(run.address);
    assert.equal(await everybody.ahead(), 0);
    const vip = await bring(`/?fairgate_code=${another}`);
    assert.equal(vip.status, 429);
    assert.equal(((await vip.json()) as { ahead: number }).ahead, 0);
    const late = await ProcessVisitor.arrive(run.address);
    assert.equal(await late.ahead(), 2);
    assert.deepEqual(
      origin.arrived.map(({ path }) => path),
      ["/?a=1"],
    );
    for (const secret of [code, another])
      assert.doesNotMatch(run.child.out + run.child.err, new RegExp(secret));
  });
});
