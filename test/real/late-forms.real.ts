/**
 * A form that is sent just after its pass has expired: a server action of Next.js and a form in PHP, with scripts and without.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import type { Run } from "../../src/testing/cli/fairgate.ts";
import { says } from "./browsers.ts";
import { openGate } from "./gate.ts";
import { openNextSite } from "./next-site.ts";
import { openNginxSites } from "./nginx-sites.ts";
import type { Site } from "./site.ts";

let browser: Browser;
let shop: Site;
before(async () => {
  shop = await openNextSite();
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await shop?.[Symbol.asyncDispose]();
});

/** Long enough for a visitor who looks at a page every three seconds. */
const FULL_AFTERWARDS = { totalActiveUsers: 1, sessionDuration: "8s" };
/** The next visitor has to wait for a minute, although the site is far from full. */
const ROOM_AND_LINE = { totalActiveUsers: 10, newUsersPerMinute: 1, sessionDuration: "5s" };

describe("a form that is sent just after its pass has expired", () => {
  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "with scripts" : "without";
    test(`it succeeds when there is room, before those who wait, ${how}`, async () => {
      await using gate = await openGate({ origins: [shop.address], room: ROOM_AND_LINE });
      await using late = await fillForm(gate, { javaScriptEnabled, name: `Late ${how}` });
      await using next = await Person.sitDown(browser, gate.address);
      await next.open();
      await next.seesAhead(0);
      await passHasRunOut(gate);
      await late.page.getByRole("button", { name: "Book" }).click();
      await late.page.getByText(`Booked for Late ${how}`).waitFor();
    });
  }

  test("when there is no room its page says so, and loading it again sends it at the next turn, without scripts", async () => {
    await using gate = await openGate({ origins: [shop.address], room: FULL_AFTERWARDS });
    await using late = await fillForm(gate, { javaScriptEnabled: false, name: "Ada the patient" });
    await using inside = await takeTheSlot(gate);
    assert.equal(await sendForm(late, "Book"), 429);
    await says(late.page, /form was not sent/i);
    assert.match(await late.page.content(), /<noscript><p>[^<]*reload this page/i);
    await inside.leaveSite();
    const booked = late.page.getByText("Booked for Ada the patient");
    await eventually("the form is sent", async () => {
      await late.page.reload();
      return booked.isVisible();
    });
    assert.equal(await booked.count(), 1, "it was sent once");
  });

  test("when there is no room its page offers to send it again when it is their turn, with scripts", async () => {
    await using sites = await openNginxSites();
    await using gate = await openGate({ origins: [sites.php], room: FULL_AFTERWARDS });
    await using late = await fillForm(gate, { path: "/guest-book.php", name: "Ada the scripted" });
    await using inside = await takeTheSlot(gate, "/guest-book.php", "The guest book");
    assert.equal(await sendForm(late, "Sign"), 429);
    await says(late.page, /form was not sent/i);
    await inside.leaveSite();
    await late.page.getByText(/send my form again/i).click();
    await late.page.getByText("Signed by Ada the scripted").waitFor();
    assert.equal(await late.page.getByRole("listitem").count(), 1, "it was sent once");
  });

  test("when there is no room a script gets JSON with our header; its page keeps what was typed and sends it later", async () => {
    await using gate = await openGate({ origins: [shop.address], room: FULL_AFTERWARDS });
    await using late = await fillForm(gate, { path: "/careful", name: "Grace the careful" });
    await using inside = await takeTheSlot(gate);
    assert.equal(await sendForm(late, "Book"), 429);
    await late.page.getByText("Not sent yet").waitFor();
    assert.equal(await late.page.getByLabel("Name").inputValue(), "Grace the careful");
    // The same call by a script that checks its answer.
    const told = (await late.page.evaluate(`fetch("/careful", { method: "POST" }).then(async (answer) => ({
      status: answer.status, ours: answer.headers.get("fairgate-status"), body: await answer.json() }))`)) as Told;
    assert.equal(told.status, 429);
    assert.notEqual(told.ours, null, "a header that tells it from the site's own answers");
    assert.equal(told.body.room, "main");
    await inside.leaveSite();
    await eventually("the form is sent", async () => {
      await sendForm(late, "Book");
      return late.page.getByText("Booked for Grace the careful").isVisible();
    });
  });
});

/** What a script is told. */
interface Told {
  readonly status: number;
  readonly ours: string | null;
  readonly body: { readonly room?: string };
}

/** A visitor who has typed their name, and has not sent the form. */
async function fillForm(
  gate: Run,
  {
    javaScriptEnabled = true,
    path = "/",
    name,
  }: { javaScriptEnabled?: boolean; path?: string; name: string },
): Promise<Person> {
  const person = await Person.sitDown(browser, gate.address, { javaScriptEnabled });
  await person.open(path);
  // From here on the page's scripts handle the form.
  if (javaScriptEnabled) await person.page.getByText(/42 seats left|Ready|The guest book/).waitFor();
  await person.page.getByLabel("Name").fill(name);
  return person;
}

/** Sends the form; returns the status of the answer. */
async function sendForm({ page }: Person, button: string): Promise<number> {
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  await page.getByRole("button", { name: button }).click();
  return (await answered).status();
}

async function passHasRunOut(gate: Run): Promise<void> {
  await eventually("the visit is over", async () => (await gate.control.counts()).onSite === 0);
}

/** Once the only slot is free, another visitor takes it and stays. */
async function takeTheSlot(gate: Run, path = "/", heading = "The shop"): Promise<Person> {
  const other = await Person.sitDown(browser, gate.address);
  await passHasRunOut(gate);
  await other.open(path);
  await other.isInside(heading);
  other.stays();
  return other;
}
