/** `fairgate run`: what it needs, what it reads, and what it says when it cannot start. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, test } from "node:test";
import { Child } from "../../src/testing/cli/child.ts";
import {
  Control,
  fairgate,
  MAIN,
  ownFolder,
  running,
  SECRET,
  startRun,
} from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor, readBoard } from "../../src/testing/cli/visitor.ts";

const LIMITS = ["--total-active-users", "1", "--new-users-per-minute", "600"];
const NOWHERE = ["--origin", "http://127.0.0.1:9", "--total-active-users", "1"];

describe("fairgate run", { concurrency: 3 }, () => {
  test("puts a line in front of a site with flags alone", async () => {
    await using origin = await TestOrigin.open();
    await using run = await startRun(["--origin", origin.address, ...LIMITS]);
    const first = await ProcessVisitor.arrive(run.address);
    const second = await ProcessVisitor.arrive(run.address);
    const third = await ProcessVisitor.arrive(run.address);
    assert.equal(first.standing.isIn, true, "while there is room there is no line");
    assert.equal(await second.ahead(), 0);
    assert.equal(await third.ahead(), 1);
    const page = await second.open();
    assert.match(page.text, /You are next/);
    assert.equal(page.headers["cache-control"], "no-store");
    assert.equal(origin.arrived.length, 1, "only the first visitor reached the site");
    assert.equal(origin.arrived[0]?.headers.cookie, undefined, "our cookie does not reach the site");
    assert.match(String(origin.arrived[0]?.headers["fairgate-visitor"]), /^[0-9a-f]{32}$/);
    assert.match(
      run.child.err,
      /newUsersPerMinute is 600, which is more than totalActiveUsers[\s\S]*1 warning/,
    );
  });

  test("without a data directory says what a crash would cost, with one says nothing of it", async () => {
    using folder = ownFolder();
    const warned = (out: string) => /"code":"NOTHING_KEPT".*revoked or left.*--data/.test(out);
    await using forgetful = await startRun(NOWHERE);
    await forgetful.child.prints(/NOTHING_KEPT/);
    assert.ok(warned(forgetful.child.out));
    await using keeping = await startRun([...NOWHERE, "--data", "kept"], { cwd: folder.path });
    assert.deepEqual(await keeping.child.end("SIGTERM"), { code: 0, signal: null });
    assert.ok(!warned(keeping.child.out));
  });

  test("refuses to start without a secret, and says how to make one", async () => {
    using folder = ownFolder();
    const { code, err } = await fairgate(["run", ...NOWHERE], { cwd: folder.path });
    assert.equal(code, 2);
    assert.match(err, /no secret/);
    assert.match(err, /fairgate keys new/);
    assert.match(err, /FAIRGATE_SECRET/);
    assert.match(err, /Nothing was started/);
  });

  test("refuses a secret that is too short, without showing it", async () => {
    const environment = { FAIRGATE_SECRET: "hunter2hunter2" };
    const { code, out, err } = await fairgate(["run", ...NOWHERE], { environment });
    assert.equal(code, 2);
    assert.match(err, /FAIRGATE_SECRET/);
    assert.doesNotMatch(out + err, /hunter2/);
  });

  test("accepts the secret that `keys new` prints, a new one each time", async () => {
    const [one, other] = await Promise.all([fairgate(["keys", "new"]), fairgate(["keys", "new"])]);
    assert.equal(one.code, 0);
    assert.match(one.out, /^[\w-]{43}\n$/);
    assert.notEqual(one.out, other.out);
    await using run = await startRun(NOWHERE, { environment: { FAIRGATE_SECRET: one.out } });
    assert.equal((await readBoard(run.address)).state, "open");
    assert.doesNotMatch(run.child.out + run.child.err, new RegExp(one.out.trim()));
  });

  test("reads fairgate.yaml in the folder it is started in", async () => {
    await using origin = await TestOrigin.open();
    using folder = ownFolder({ "fairgate.yaml": fileFor(origin.address, "tickets") });
    await using run = await startRun([], { cwd: folder.path });
    assert.equal((await readBoard(run.address, "tickets")).room, "tickets");
    assert.equal((await ProcessVisitor.arrive(run.address)).standing.isIn, true);
    assert.equal((await ProcessVisitor.arrive(run.address)).standing.isIn, false);
  });

  test("reads the file that --config names, and the secret from it, and listens where it says", async () => {
    await using origin = await TestOrigin.open();
    const text = `${fileFor(origin.address, "sale")}listen: 127.0.0.1:0\ncontrol: { listen: "127.0.0.1:0" }\nsecret: ${SECRET}\n`;
    using folder = ownFolder({ "other.yaml": text, "fairgate.yaml": "rooms: nonsense\n" });
    const child = new Child(process.execPath, [MAIN, "run", "--config", "other.yaml"], { cwd: folder.path });
    await using run = await running(child);
    assert.equal((await readBoard(run.address, "sale")).room, "sale");
    assert.equal((await fetch(`${run.control.address}/readyz`)).status, 200);
    const [, token] = await run.child.prints(/^The control token, good until this process ends: (\S+)$/m);
    assert.equal((await run.control.ask("GET", "/rooms")).status, 401, "no token was set");
    assert.equal((await new Control(run.control.address, token!).ask("GET", "/rooms")).status, 200);
    assert.ok(!run.child.out.includes(token!), "it is in no log");
  });

  test("does not start with bad settings, and exits with 2", async () => {
    using folder = ownFolder({
      "fairgate.yaml": "listen: 127.0.0.1:0\nrooms: { main: { totalActiveUser: 2 } }\n",
    });
    const { code, err, out } = await fairgate(["run"], { cwd: folder.path });
    assert.equal(code, 2);
    assert.match(err, /Did you mean totalActiveUsers\?/);
    assert.match(err, /Nothing was started/);
    assert.equal(out, "");
  });

  for (const flag of ["--listen", "--control-listen"]) {
    test(`exits with 1 and one sentence when the address of ${flag} is taken`, async () => {
      const blocker = createServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => blocker.once("listening", resolve));
      const { port } = blocker.address() as { port: number };
      const other = flag === "--listen" ? "--control-listen" : "--listen";
      const args = ["run", ...NOWHERE, flag, `127.0.0.1:${port}`, other, "127.0.0.1:0"];
      const { code, err, out } = await fairgate(args, { environment: { FAIRGATE_SECRET: SECRET } });
      blocker.close();
      assert.equal(code, 1);
      assert.equal(err.trim().split("\n").length, 1, err);
      assert.match(err, new RegExp(`127\\.0\\.0\\.1:${port} is taken`));
      assert.match(err, new RegExp(flag));
      assert.doesNotMatch(err, /EADDRINUSE|at .*\.ts/);
      assert.equal(out, "");
    });
  }
});

describe("the command line", { concurrency: 3 }, () => {
  const mistakes: [string[], RegExp][] = [
    [["runn"], /unknown command 'runn'[\s\S]*run/],
    [["run", "--orign", "http://127.0.0.1:3000"], /unknown option '--orign'[\s\S]*--origin/],
    [["keys", "neww"], /unknown command 'neww'[\s\S]*new/],
    [["run", "extra"], /too many arguments/],
    [["run", "--origin"], /argument missing/],
    [["demo", "--port", "high"], /--port is "high"/],
    [["demo", "--crowd", "-1"], /--crowd is "-1"/],
  ];
  for (const [args, words] of mistakes) {
    test(`\`fairgate ${args.join(" ")}\` exits with 2 and says what is wrong`, async () => {
      const { code, err, out } = await fairgate(args);
      assert.equal(code, 2);
      assert.match(err, words);
      assert.equal(out, "");
    });
  }

  test("--help and --version exit with 0", async () => {
    const [help, version] = await Promise.all([fairgate(["--help"]), fairgate(["--version"])]);
    assert.equal(help.code, 0);
    for (const command of ["run", "check", "demo", "keys"])
      assert.match(help.out, new RegExp(`^  ${command}\\b`, "m"));
    assert.equal(version.code, 0);
    assert.match(version.out, /^\d+\.\d+\.\d+\n$/);
  });
});

function fileFor(origin: string, room: string): string {
  return `origin: { addresses: ["${origin}"] }\nrooms: { ${room}: { totalActiveUsers: 1 } }\n`;
}
