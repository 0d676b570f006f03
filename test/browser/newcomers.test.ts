/**
 * Newcomers who have to show more than an address, in a real browser: the second contact, the proof of work, and what stops them.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { ownFolder, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";

let browser: Browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

describe("newcomers", { concurrency: 3 }, () => {
  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "with JavaScript" : "without";
    test(`where a place is given at the second contact, a browser comes back by itself, ${how}`, async () => {
      await using stage = await room("paused: true, abuse: { entryDelay: true }");
      const first = await fetch(stage.run.address, { headers: { accept: "text/html" } });
      assert.match(await first.text(), /One moment/);
      assert.equal((await stage.run.control.counts()).waiting, 0, "the first contact is no place");
      const person = await stage.sitDown({ javaScriptEnabled });
      await person.open();
      await person.sees("heading", "The line is paused");
      assert.equal((await stage.run.control.counts()).waiting, 1);
      assert.deepEqual(person.faults, []);
    });
  }

  test("a browser does the task it is given and gets its place, with nothing to click", async () => {
    await using stage = await room("paused: true, abuse: { proofOfWork: { easiest: 14 } }");
    const person = await stage.sitDown();
    await person.open();
    await person.sees("heading", "The line is paused");
    assert.equal((await stage.run.control.counts()).waiting, 1);
    assert.deepEqual(person.faults, []);
  });

  test("a link whose path names another host behind two slashes leads nowhere else once the task is done", async () => {
    await using stage = await room("paused: true, abuse: { proofOfWork: { easiest: 14 } }");
    const person = await stage.sitDown();
    await person.open("//127.0.0.1:9/elsewhere");
    await person.sees("heading", "The line is paused");
    assert.deepEqual(person.faults, []);
  });

  test("without JavaScript the task cannot be done, and the page says so", async () => {
    await using stage = await room("paused: true, abuse: { proofOfWork: { easiest: 14 } }");
    const person = await stage.sitDown({ javaScriptEnabled: false });
    await person.open();
    await person.page.getByText(/JavaScript/).waitFor();
    await person.screenshot("task-without-javascript");
    assert.equal((await stage.run.control.counts()).waiting, 0);
  });

  test("too many from one address are told when to come back", async () => {
    await using stage = await room("paused: true, abuse: { joinsPerMinutePerAddress: 2 }");
    const third = await stage.sitDown();
    // There is another place after half a minute, so the first two are taken without a browser.
    for (let i = 0; i < 2; i++)
      assert.equal((await ProcessVisitor.arrive(stage.run.address)).standing.isIn, false);
    await third.open();
    // The page must not reload itself while the test looks at it.
    await third.page.evaluate("stop()");
    assert.equal((await stage.run.control.counts()).waiting, 2);
    await third.page.getByRole("heading", { name: "Too many places from your network" }).waitFor();
    await third.screenshot("too-many-joins");
    assert.deepEqual(await third.violations(), []);
  });
});

/** A gateway with one room of these settings. */
async function room(settings: string) {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(ownFolder());
  const origin = parts.use(await TestOrigin.open());
  folder.write(
    "fairgate.yaml",
    `origin: { addresses: ["${origin.address}"] }\nrooms: { main: { totalActiveUsers: 1, ${settings} } }\n`,
  );
  const run = parts.use(await startRun(["--config", "fairgate.yaml"], { cwd: folder.path }));
  const seated: Person[] = [];
  const whole = parts.move();
  return {
    run,
    async sitDown(options: BrowserContextOptions = {}) {
      const person = await Person.sitDown(browser, run.address, options);
      seated.push(person);
      return person;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(seated.map((person) => person.close()));
      await whole.disposeAsync();
    },
  };
}
