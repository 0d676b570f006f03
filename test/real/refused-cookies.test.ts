/** A browser that refuses our cookie. Every browser does so when the cookie is marked `SameSite=None` without being secure. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { says } from "./browsers.ts";
import { openGate, slotsTaken, watchSlots } from "./gate.ts";
import { openPlainSite } from "./plain-site.ts";
import { enter } from "./program.ts";

const REFUSED = { cookieAttributes: { sameSite: "none" } };

describe("a browser that refuses the cookie", { concurrency: 2 }, () => {
  test("one page view takes at most one slot, and for a short time only", async () => {
    await using site = await openPlainSite();
    await using gate = await openGate({
      origins: [site.address],
      room: { ...REFUSED, newcomerDuration: "3s" },
    });
    await using browser = await openBrowser();
    const slots = watchSlots(gate.control);
    const person = await Person.sitDown(browser, gate.address);
    await person.open();
    await person.page.getByText("42 seats left").waitFor();
    assert.deepEqual(await person.page.context().cookies(), []);
    const most = await slots.most();
    assert.ok(most <= 1, `${most} slots`);
    await eventually("nobody is on the site", async () => (await slotsTaken(gate.control)) === 0);
    assert.ok(site.arrived.length > 10, `${site.arrived.length} requests`);
  });

  test("in a line its page says that cookies are needed, with scripts and without", async () => {
    await using site = await openPlainSite();
    await using gate = await openGate({ origins: [site.address], room: { ...REFUSED, totalActiveUsers: 1 } });
    await enter(gate.address);
    await using browser = await openBrowser();
    for (const javaScriptEnabled of [true, false]) {
      const person = await Person.sitDown(browser, gate.address, { javaScriptEnabled });
      await person.open();
      await says(person.page, /Cookies are needed/);
    }
  });
});
