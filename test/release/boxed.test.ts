/**
 * The executable as a container has it: the first process of its own namespace, without rights, and nothing to write to but
 * the data directory. Linux makes such a box without Docker, for root.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { EXECUTABLE, ensureExecutable } from "../../scripts/executable.ts";
import { Child } from "../../src/testing/cli/child.ts";
import { fairgate, running } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";
import { proves } from "../../src/testing/requirements/proves.ts";

const NOBODY = "1000";
const NEW_BOX = ["--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];
const WITHOUT_RIGHTS = [
  ...["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--no-new-privs"],
  ...["--inh-caps=-all", "--bounding-set=-all"],
];

/** In the box's own mounts: the program and a data directory at /mnt, and all else read-only. */
const IN_THE_BOX = `mount -t tmpfs -o mode=755 none /mnt && touch /mnt/fairgate && mount --bind "$1" /mnt/fairgate &&
  install -d -o ${NOBODY} -g ${NOBODY} -m 700 /mnt/data && mount -o remount,bind,ro / && shift && exec "$@"`;

const isRoot = process.getuid?.() === 0;
const canBox = isRoot && spawnSync("unshare", [...NEW_BOX, "setpriv", "--version"]).status === 0;

before(ensureExecutable);

test(proves(["dp3", "dp4"], "runs as process 1 of a read-only system, hears its signals, and is healthy"), {
  skip: !canBox && "no namespaces here",
}, async () => {
  await using origin = await TestOrigin.open();
  const program = ["/mnt/fairgate", "run", "--data", "/mnt/data", "--origin", origin.address];
  const at = ["--total-active-users", "1", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"];
  const box = [
    ...NEW_BOX,
    "sh",
    "-c",
    IN_THE_BOX,
    "sh",
    EXECUTABLE,
    "setpriv",
    ...WITHOUT_RIGHTS,
    ...program,
    ...at,
  ];
  const environment = { FAIRGATE_CONTROL_TOKEN: "a-token-for-tests-only-0123456789-abcdef" };
  await using run = await running(new Child("unshare", box, { cwd: "/", environment }));
  assert.equal((await ProcessVisitor.arrive(run.address)).standing.isIn, true);
  assert.equal((await ProcessVisitor.arrive(run.address)).standing.isIn, false);
  const health = await fairgate(["health", "--control", new URL(run.control.address).host]);
  assert.equal(health.code, 0, health.err);
  const { pid } = run.child;
  const inner = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"));
  const status = readFileSync(`/proc/${inner}/status`, "utf8");
  assert.match(status, new RegExp(`^Uid:\\t${NOBODY}\\t.*^NSpid:\\t\\d+\\t1$.*^CapEff:\\t0+$`, "ms"));
  process.kill(inner, "SIGHUP");
  await run.child.prints(/new settings are in force/);
  process.kill(inner, "SIGTERM");
  assert.equal((await run.child.ended).code, 0);
});
