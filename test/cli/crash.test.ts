/** kill -9: the line is in the visitors' tickets, so a new process with the same secret continues it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";

const SOMEONE_ELSES_SECRET = "another-secret-for-tests-only-9876543210";

test("after kill -9 a pass still gets in, and the line goes on in its order", async () => {
  await using origin = await TestOrigin.open();
  const args = ["--origin", origin.address, "--total-active-users", "1"];
  await using before = await startRun(args);
  const onSite = await ProcessVisitor.arrive(before.address);
  const first = await ProcessVisitor.arrive(before.address);
  const second = await ProcessVisitor.arrive(before.address);
  const third = await ProcessVisitor.arrive(before.address);
  assert.equal(await third.ahead(), 2);
  assert.deepEqual(await before.child.end("SIGKILL"), { code: null, signal: "SIGKILL" });

  await using after = await startRun(args);
  for (const visitor of [onSite, first, second, third]) visitor.address = after.address;
  assert.equal(await onSite.isIn(), true, "the pass is good");
  await eventually("visitors on the site are counted again", async () => {
    return (await after.control.counts()).onSite === 1;
  });
  const late = await ProcessVisitor.arrive(after.address);
  assert.equal(late.standing.isIn, false);
  // Visitors come back in any order; the order of the line is in their tickets.
  assert.ok((await third.ahead()) <= 2);
  assert.equal(await first.ahead(), 0);
  assert.ok((await second.ahead()) <= 1);
  assert.equal((await after.control.counts()).waiting, 4);
  let leaving: ProcessVisitor = onSite;
  for (const next of [first, second, third, late]) {
    await leaving.leave();
    await eventually("the next in line goes in", () => next.isIn());
    leaving = next;
  }
});

for (const [how, args, isGoodAgain] of [
  ["without a data directory a pass that was left is good again after kill -9, as the docs say", [], true],
  ["with a data directory it is not", ["--data", "kept"], false],
] as const) {
  test(how, async () => {
    await using origin = await TestOrigin.open();
    using folder = ownFolder();
    const start = () =>
      startRun(["--origin", origin.address, "--total-active-users", "1", ...args], { cwd: folder.path });
    await using before = await start();
    const visitor = await ProcessVisitor.arrive(before.address);
    const { cookie } = visitor;
    await visitor.leave();
    // While somebody else has the slot; otherwise the visitor would be admitted as a newcomer.
    const next = await ProcessVisitor.arrive(before.address);
    assert.equal(next.standing.isIn, true);
    await before.child.end("SIGKILL");
    await using after = await start();
    next.address = visitor.address = after.address;
    assert.equal(await next.isIn(), true);
    await eventually("the slot is known to be taken", async () => {
      return (await after.control.counts()).onSite === 1;
    });
    visitor.cookie = cookie;
    assert.equal(await visitor.isIn(), isGoodAgain);
  });
}

test("a process with another secret accepts none of the old tokens, and serves everyone", async () => {
  await using origin = await TestOrigin.open();
  const args = ["--origin", origin.address, "--total-active-users", "1"];
  await using before = await startRun(args);
  const onSite = await ProcessVisitor.arrive(before.address);
  const waiting = await ProcessVisitor.arrive(before.address);
  await before.child.end("SIGKILL");
  await using after = await startRun(args, { environment: { FAIRGATE_SECRET: SOMEONE_ELSES_SECRET } });
  onSite.address = waiting.address = after.address;
  assert.equal(await waiting.isIn(), true, "a newcomer like any other, and there is room");
  assert.equal(await onSite.isIn(), false, "and a pass signed with another secret is not accepted");
});
