/** What `npm test` says before it installs a program, and when it cannot. A fake apt-get replaces the real one. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { findProgram, type Program } from "../../scripts/debian.ts";

const NOT_ROOT = process.getuid?.() !== 0 && "only root installs packages";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "fairgate-debian-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const programs = (): Program[] =>
  ["abacus", "sextant"].map((name) => ({
    name: `The ${name}`,
    why: `the ${name} tests need one`,
    debianPackage: `${name}-package`,
    places: [join(directory, name)],
    variable: `FAIRGATE_${name.toUpperCase()}`,
  }));

/** Runs `ensurePrograms` in a process of its own, on a machine whose apt-get is this shell script, or which has none. */
function ensure({ aptGet, env = {} }: { aptGet?: string; env?: Record<string, string> }) {
  if (aptGet !== undefined)
    writeFileSync(join(directory, "apt-get"), `#!/bin/sh\necho "ran: $*"\n${aptGet}\n`, { mode: 0o755 });
  const module = new URL("../../scripts/debian.ts", import.meta.url).href;
  const program = `import { ensurePrograms } from ${JSON.stringify(module)};
    ensurePrograms(${JSON.stringify(programs())});`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    env: { PATH: `${directory}:${dirname(process.execPath)}`, ...env },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("programs that npm does not bring", () => {
  test("a program is found where the variable says, and otherwise at the first place that exists", (t) => {
    const program = { ...programs()[0]!, places: ["/no/such/program", process.execPath, "/bin/sh"] };
    t.after(() => delete process.env[program.variable]);
    assert.equal(findProgram(program), process.execPath);
    assert.equal(findProgram({ ...program, places: ["/no/such/program"] }), undefined);
    process.env[program.variable] = "/some/where/else";
    assert.equal(findProgram(program), "/some/where/else");
  });

  test("nothing is printed when all programs exist", () => {
    for (const { places } of programs()) writeFileSync(places[0]!, "");
    assert.deepEqual(ensure({ aptGet: "exit 1" }), { status: 0, stdout: "", stderr: "" });
  });

  test("what is installed and why is printed, without apt-get's own output", { skip: NOT_ROOT }, () => {
    const { status, stdout, stderr } = ensure({
      aptGet: `echo "debconf: unable to initialize frontend" >&2
        case "$*" in *abacus-package\\ sextant-package) : > ${directory}/abacus; : > ${directory}/sextant;; esac`,
    });
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(
      stdout,
      /^Installing with apt-get .*\n {2}The abacus \(package abacus-package\): the abacus tests need one\n {2}The sextant .*\nInstalled after \d+ s\.\n\n$/,
    );
  });

  test("only what is missing is installed", { skip: NOT_ROOT }, () => {
    const { status, stdout } = ensure({
      aptGet: `case "$*" in *sextant*) exit 1;; *abacus*) : > ${directory}/abacus;; esac`,
      env: { FAIRGATE_SEXTANT: "/some/where" },
    });
    assert.equal(status, 0);
    assert.doesNotMatch(stdout, /sextant/);
  });

  test("when apt-get fails its output is shown, with what to do", { skip: NOT_ROOT }, () => {
    const { status, stderr } = ensure({ aptGet: `echo "E: no network" >&2; exit 100` });
    assert.equal(status, 1);
    assert.match(stderr, /sudo apt-get install abacus-package sextant-package/);
    assert.match(stderr, /set FAIRGATE_SEXTANT to its path/);
    assert.match(stderr, /ran: -qq update\n +E: no network\n +ran: -qq install .*\n +E: no network/);
  });

  test("without apt-get nothing is tried, and the reason is printed", () => {
    const { status, stdout, stderr } = ensure({});
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, /The abacus: the abacus tests need one/);
    assert.match(stderr, /They were not installed for you: there is no apt-get here/);
  });
});
