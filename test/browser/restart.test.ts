/** A gateway killed with -9 while people look at its waiting page: they notice nothing but a late update. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";
import { Gate } from "../crash/gate.ts";

test("a page that is open goes on after kill -9 and goes in when it is its turn", async () => {
  using data = ownFolder();
  await using origin = await TestOrigin.open();
  const room = { totalActiveUsers: 1, ticketTtl: "10m", claimWindow: "40s", lapseAfter: "10m" };
  await using gate = await Gate.make({ origin: origin.address, room, dataFolder: data.path });
  await gate.start();
  const inside = new ProcessVisitor(gate.address);
  assert.ok(await inside.isIn());
  const browser = await openBrowser();
  try {
    const people = [await Person.sitDown(browser, gate.address), await Person.sitDown(browser, gate.address)];
    for (const [ahead, person] of people.entries()) {
      await person.open();
      await person.seesAhead(ahead);
    }
    const updates = () => people.map(({ shown }) => new Set(shown.map(({ updated }) => updated)).size);
    const before = updates();
    await gate.end("SIGKILL");
    await gate.start();
    await eventually("both pages are updated again", () =>
      updates().every((count, index) => count > before[index]! + 1),
    );
    assert.deepEqual(
      people.map((person) => person.shownAhead()),
      [[0], [1]],
      "nothing else was ever shown",
    );
    assert.deepEqual(
      people.map(({ loads }) => loads),
      [1, 1],
      "nothing was loaded anew",
    );
    await inside.leave();
    // A page that a busy machine keeps from its turn for ten seconds is overtaken, so either may be the first.
    const goIn = people.map((person) => person.isInside().then(() => person));
    const first = await Promise.race(goIn);
    await first.leaveSite();
    await Promise.all(goIn);
  } finally {
    await browser.close();
  }
});
