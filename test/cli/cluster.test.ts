/** `fairgate run --cluster`, `fairgate cluster …` and `fairgate simulate`, as processes of their own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Child } from "../../src/testing/cli/child.ts";
import { eventually, isListening } from "../../src/testing/cli/eventually.ts";
import {
  Control,
  fairgate,
  MAIN,
  ownFolder,
  type Run,
  SECRET,
  startRun,
  TOKEN,
} from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";
import { freePort } from "../../src/testing/free-port.ts";

const WITH_TOKEN = { FAIRGATE_CONTROL_TOKEN: TOKEN };

interface Report {
  readonly address: string;
  readonly nodes: readonly { readonly name: string }[];
  readonly view: { readonly isSettled: boolean } | null;
  readonly problems: readonly string[];
}

async function startNode(name: string, origin: string, join: readonly string[] = []): Promise<Run> {
  const flags = ["--cluster", "--cluster-name", name, "--cluster-listen", "127.0.0.1:0"];
  const others = join.flatMap((address) => ["--join", address]);
  return startRun([...flags, ...others, "--origin", origin, "--total-active-users", "1"]);
}

async function reportOf({ control }: Run): Promise<Report> {
  return (await control.ask<Report>("GET", "/cluster")).body;
}

describe("a cluster of processes", { concurrency: 3 }, () => {
  test("shares one line, shows itself, and loses nobody when a node is stopped", async () => {
    await using origin = await TestOrigin.open();
    await using first = await startNode("gate-1", origin.address);
    const { address } = await reportOf(first);
    await using second = await startNode("gate-2", origin.address, [address]);
    await eventually("both know both", async () => {
      const reports = await Promise.all([first, second].map(reportOf));
      return reports.every(({ nodes, view }) => nodes.length === 2 && view?.isSettled);
    });

    const onSite = await ProcessVisitor.arrive(first.address);
    assert.equal(onSite.standing.isIn, true);
    const waiting = await eventually("the site is full for the other node too", async () => {
      const visitor = await ProcessVisitor.arrive(second.address);
      return !visitor.standing.isIn && visitor;
    });

    const control = second.control.address.replace("http://", "");
    const ask = ["cluster", "status", "--control", control];
    // A node that is too busy to answer for a moment is reported.
    const status = await eventually("all is well", async () => {
      const asked = await fairgate(ask, { environment: WITH_TOKEN });
      return asked.code === 0 && asked;
    });
    assert.match(status.out, /^A cluster of 2 nodes, asked at gate-2: all is well\.$/m);
    assert.match(status.out, /^gate-1 .*\n└─ gate-2 \(.*here\)/m);

    assert.deepEqual(await first.child.end("SIGTERM"), { code: 0, signal: null });
    const { nodes, problems } = await eventually("the other goes on by itself", async () => {
      const report = await reportOf(second);
      return report.nodes.length === 1 && report;
    });
    assert.deepEqual([nodes[0]?.name, problems], ["gate-2", []]);
    assert.equal((await waiting.come()).isIn, false, "the one slot is still taken");
    const { waiting: inLine, onSite: inside } = await second.control.counts();
    assert.deepEqual([inLine, inside], [1, 1]);
  });

  test("what is wrong is said before a node is started", async () => {
    using folder = ownFolder();
    const environment = { FAIRGATE_SECRET: SECRET };
    const site = ["--origin", "http://127.0.0.1:9", "--total-active-users", "1"];
    const flags = ["--cluster", "--listen", "10.0.0.7:7000", "--join", "10.0.0.8:7100"];
    const elsewhere = await fairgate(["run", ...site, ...flags], { cwd: folder.path, environment });
    assert.equal(elsewhere.code, 2);
    assert.match(elsewhere.err, /other machines cannot reach[\s\S]*--cluster-listen/);
    assert.match(elsewhere.err, /Nothing was started/);
  });

  test("a node that has not joined the cluster yet takes no visitors, and says why", async () => {
    const [listen, control] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const flags = ["--cluster", "--cluster-listen", "127.0.0.1:0", "--join", "127.0.0.1:9"];
    const site = ["--origin", "http://127.0.0.1:9", "--total-active-users", "1"];
    const addresses = ["--listen", listen, "--control-listen", control];
    const environment = { FAIRGATE_SECRET: SECRET, ...WITH_TOKEN };
    await using child = new Child(process.execPath, [MAIN, "run", ...flags, ...site, ...addresses], {
      environment,
    });
    await child.prints(/127\.0\.0\.1:9 does not listen/);
    await eventually("operators can ask", () => isListening(`http://${control}`));
    const desk = new Control(`http://${control}`, TOKEN);
    const { problems } = (await desk.ask<Report>("GET", "/cluster")).body;
    assert.match(
      problems.join("\n"),
      /in no cluster yet, and takes no visitors[\s\S]*127\.0\.0\.1:9 does not listen/,
    );
    assert.equal((await desk.ask("GET", "/readyz")).status, 503);
    assert.equal(await isListening(`http://${listen}`), false);
    assert.doesNotMatch(child.out, /fairgate is running/);
  });

  test("`cluster forget` forgets no node without being confirmed", async () => {
    const args = ["cluster", "forget", "gate-3", "--control", "127.0.0.1:1"];
    const { code, err } = await fairgate(args, { environment: WITH_TOKEN });
    assert.equal(code, 2);
    assert.match(err, /--yes/);
  });
});

describe("fairgate simulate and torture", { concurrency: 3 }, () => {
  test("simulate needs only flags, torture only a seed; neither takes the other's flags", async () => {
    using folder = ownFolder();
    const run = (...args: readonly string[]) => fairgate(args, { cwd: folder.path });
    const [crowd, nothing, mixed, bySeed, seeded] = await Promise.all([
      run("simulate", "--crowd", "300", "--no-show", "10", "--total-active-users", "50", "--stay", "1m"),
      run("simulate"),
      run("simulate", "--crowd", "300", "--nodes", "3"),
      run("torture", "--seed", "one"),
      run("torture", "--seed", "1", "--nodes", "2", "--visitors", "5", "--seconds", "2", "--json"),
    ]);
    assert.equal(crowd.code, 0, crowd.err);
    assert.match(crowd.out, /300/);
    assert.deepEqual([nothing.code, mixed.code, bySeed.code, seeded.code], [2, 2, 2, 0]);
    assert.match(nothing.err, /--crowd 50000.*fairgate torture/);
    assert.match(mixed.err, /unknown option '--nodes'/);
    assert.match(bySeed.err, /--seed is "one"/);
    assert.ok(JSON.parse(seeded.out));
  });

  test("the help of each fits a screen", async () => {
    const asked = await Promise.all(
      ["simulate", "torture", "watch", "set"].map((name) => fairgate([name, "--help"])),
    );
    for (const { out } of asked) {
      const lines = out.trimEnd().split("\n");
      assert.ok(lines.length <= 24 && lines.every((line) => line.length <= 80), out);
    }
  });
});
