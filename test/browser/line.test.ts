/**
 * The line in a real browser before a real gateway process. Three visitors wait, come in in order, and lose nothing by reloading
 * or closing the tab, with JavaScript and without.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";

const STAY_EVERY_MS = 4_000;

let browser: Browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

describe("people in a line", { concurrency: 4 }, () => {
  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "live" : "without JavaScript";
    test(`${how}: three join a full room, see the line move, and come in by themselves in order`, async () => {
      // A turn is kept for ten seconds. A claim window of ten makes a page without JavaScript reload within five, even where the
      // line has not moved for long, as on a busy machine.
      await using stage = await fullRoom(javaScriptEnabled ? {} : { claimWindow: "10s" });
      const people = [];
      for (let ahead = 0; ahead < 3; ahead++) {
        const person = await stage.sitDown({ javaScriptEnabled });
        await person.open();
        await person.seesAhead(ahead);
        people.push(person);
      }
      const [first, second, third] = people as [Person, Person, Person];
      await second.page.reload();
      await second.seesAhead(1);
      await third.open();
      await third.seesAhead(2);
      const loadsByHand = [1, 2, 2];

      await stage.makeRoom();
      await first.isInside();
      first.stays();
      await second.seesAhead(0);
      await third.seesAhead(1);
      assert.equal((await stage.run.control.counts()).waiting, 2, "and nobody else is in");
      await first.leaveSite();
      await second.isInside();
      second.stays();
      await third.seesAhead(0);
      await second.leaveSite();
      await third.isInside();

      const visits = stage.origin.arrived.filter(({ headers }) => headers.accept?.includes("text/html"));
      const joined = visits.map(({ headers }) => String(headers["fairgate-joined-at"]));
      assert.equal(new Set(visits.map(({ headers }) => headers["fairgate-visitor"])).size, 3);
      assert.deepEqual(joined, joined.toSorted(), "who came first went in first");
      for (const [index, person] of people.entries()) {
        assert.deepEqual(person.faults, []);
        const ownLoads = person.loads - loadsByHand[index]!;
        if (!javaScriptEnabled) assert.ok(ownLoads >= 1);
        else {
          assert.equal(ownLoads, 1, "a live page loads nothing anew until its turn");
          const oneByOne = Array.from({ length: index + 1 }, (_, gone) => index - gone);
          assert.deepEqual(person.shownAhead(), oneByOne, "nothing else was ever shown");
          assertAtLeastThemselves(person);
        }
      }
    });
  }

  test("visitors who come within the same second are told the right number ahead, and it stays right", async () => {
    await using stage = await fullRoom();
    const people = await Promise.all([0, 1, 2, 3].map(() => stage.sitDown()));
    await Promise.all(people.map((person) => person.open()));
    const updates = ({ shown }: Person) => new Set(shown.map(({ updated }) => updated)).size;
    await eventually("each has been updated a few times", () =>
      people.every((person) => updates(person) > 3),
    );
    const shown = people.map((person) => person.shownAhead());
    assert.deepEqual(shown.toSorted(), [[0], [1], [2], [3]]);
    for (const person of people) assertAtLeastThemselves(person);
  });

  test("a page without JavaScript comes again by itself while it waits", async () => {
    await using stage = await fullRoom();
    const person = await stage.sitDown({ javaScriptEnabled: false });
    await person.open();
    await eventually("it has loaded twice more by itself", () => person.loads >= 3);
    await person.seesAhead(0);
    assert.equal((await stage.run.control.counts()).waiting, 1, "it is still the one place");
  });

  test("a pause by the operator shows, with the message, and so does its end", async () => {
    await using stage = await fullRoom();
    const { control } = stage.run;
    const [live, plain] = [await stage.sitDown(), await stage.sitDown({ javaScriptEnabled: false })];
    await live.open();
    await plain.open();
    await control.ask("POST", "/rooms/main/pause", { message: "The stage is being rebuilt. Back at nine." });
    for (const person of [live, plain]) {
      await person.sees("heading", "The line is paused");
      await person.sees("message", "The stage is being rebuilt. Back at nine.");
    }
    await live.screenshot("paused");
    await stage.makeRoom();
    await control.ask("PATCH", "/rooms/main", { message: "Nearly there." });
    await live.sees("message", "Nearly there.");
    await live.sees("heading", "The line is paused");
    await control.ask("POST", "/rooms/main/open", { message: "" });
    await live.isInside();
    live.stays();
    await plain.sees("heading", "You are next");
  });

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "live" : "without JavaScript";
    test(`${how}: a form sent without a pass is refused, never sent by itself, and can be sent again in turn`, async () => {
      await using stage = await fullRoom();
      const person = await stage.sitDown({ javaScriptEnabled });
      await stage.makeRoom();
      await person.open();
      await person.isInside();
      const next = await ProcessVisitor.arrive(stage.run.address);
      const id = stage.origin.arrived.at(-1)?.headers["fairgate-visitor"];
      await stage.run.control.ask("DELETE", `/rooms/main/sessions/${id}`);
      await eventually("someone else has the place", () => next.isIn());
      const stopStaying = stage.stays(next);

      await person.page.getByRole("button", { name: "Buy" }).click();
      await person.sees("notice", /Your form was not sent/);
      await person.seesAhead(0);
      if (javaScriptEnabled) await person.screenshot("form-refused");
      await stopStaying();
      await next.leave();
      const posts = () => stage.origin.arrived.filter(({ method }) => method === "POST");
      if (javaScriptEnabled) {
        const again = person.page.getByRole("link", { name: "Send my form again" });
        await again.waitFor();
        assert.equal(posts().length, 0, "nothing of the form has reached the site");
        await person.screenshot("form-again");
        await again.click();
      } else await eventually("the form is sent", () => person.page.reload().then(() => posts().length > 0));
      await person.page.getByText("Bought").waitFor();
      assert.deepEqual(
        posts().map(({ path, body }) => [path, body]),
        [["/buy", "seat=7"]],
      );
    });
  }

  test("someone who gives up and goes is not waited for", async () => {
    await using stage = await fullRoom();
    const [first, second] = [await stage.sitDown(), await stage.sitDown()];
    await first.open();
    await second.open();
    await second.seesAhead(1);
    await first.leaveSite();
    await second.seesAhead(0);
    await stage.makeRoom();
    await second.isInside();
  });
});

/** A visitor who is in the line and sees it. */
function assertAtLeastThemselves({ shown }: Person): void {
  const wrong = shown.find(({ ahead, waiting }) => waiting <= ahead);
  assert.equal(wrong, undefined, `shown: ${JSON.stringify(wrong)}`);
}

/**
 * Asks for a page now and then, so that the visit does not expire however slow the machine is. Returns a function that stops it.
 */
function staysOnSite(visitor: ProcessVisitor): () => Promise<void> {
  let asked: Promise<unknown> = Promise.resolve();
  const asking = setInterval(() => {
    asked = asked.then(() => visitor.come());
  }, STAY_EVERY_MS);
  return async () => {
    clearInterval(asking);
    await asked;
  };
}

/** A room for one visitor, with one inside. Short sessions promise a quick line, so pages reload within seconds. */
async function fullRoom(more: object = {}) {
  await using parts = new AsyncDisposableStack();
  const origin = parts.use(await TestOrigin.open());
  const main = { totalActiveUsers: 1, sessionDuration: "20s", ...more };
  const settings = { origin: { addresses: [origin.address] }, rooms: { main } };
  const folder = parts.use(ownFolder({ "fairgate.yaml": JSON.stringify(settings) }));
  const run = parts.use(await startRun([], { cwd: folder.path }));
  const holder = await ProcessVisitor.arrive(run.address);
  const stops: (() => Promise<void>)[] = [];
  const stays = (visitor: ProcessVisitor) => {
    const stop = staysOnSite(visitor);
    stops.push(stop);
    return stop;
  };
  const stopHolder = stays(holder);
  const seated: Person[] = [];
  const whole = parts.move();
  return {
    origin,
    run,
    /** Keeps a visitor on the site until told to stop, or until the end. */
    stays,
    /** The visitor on the site leaves. */
    async makeRoom() {
      await stopHolder();
      await holder.leave();
    },
    async sitDown(options = {}) {
      const person = await Person.sitDown(browser, run.address, options);
      seated.push(person);
      return person;
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(stops.map((stop) => stop()));
      await Promise.all(seated.map((person) => person.close()));
      await whole.disposeAsync();
    },
  };
}
