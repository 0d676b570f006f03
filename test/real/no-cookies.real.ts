/** Visitors who keep no cookie: they see the site while there is room, and use next to nothing of it. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ask } from "../../src/visitor/ask.ts";
import { PAGE } from "../../src/visitor/http-visitor.ts";
import { openCookielessBrowser, says } from "./browsers.ts";
import { openGate, slotsTaken, watchSlots } from "./gate.ts";
import { openNextSite } from "./next-site.ts";
import { openPlainSite } from "./plain-site.ts";
import { enter } from "./program.ts";
import type { Site } from "./site.ts";

let shop: Site;
before(async () => {
  shop = await openNextSite();
});
after(() => shop?.[Symbol.asyncDispose]());

/** Requests that such programs make, each in turn. */
const KINDS: readonly Readonly<Record<string, string>>[] = [
  PAGE,
  { accept: "*/*" },
  { accept: "application/json" },
  { accept: "image/*", "sec-fetch-dest": "image" },
  { accept: "*/*", "sec-fetch-dest": "empty", "sec-fetch-mode": "cors" },
];

describe("without cookies", { concurrency: 3 }, () => {
  test("one page view takes at most one slot, and for a short time only", async () => {
    await using gate = await openGate({ origins: [shop.address] });
    await using browser = await openCookielessBrowser();
    const slots = watchSlots(gate.control);
    const person = await Person.with(browser.context, gate.address);
    await person.open();
    await person.isInside();
    await person.page.getByText("42 seats left").waitFor();
    await person.page.waitForFunction("document.querySelector('img').naturalWidth > 0");
    assert.deepEqual(await browser.context.cookies(), []);
    const most = await slots.most();
    assert.ok(most <= 1, `${most} slots`);
    // A session is half an hour here, so it cannot have expired.
    await eventually("nobody is on the site", async () => (await slotsTaken(gate.control)) === 0);
  });

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "with scripts" : "without";
    test(`a visitor who would have to wait is told that cookies are needed, ${how}`, async () => {
      await using gate = await openGate({ origins: [shop.address], room: { totalActiveUsers: 1 } });
      await enter(gate.address);
      await using browser = await openCookielessBrowser({ javaScriptEnabled });
      const person = await Person.with(browser.context, gate.address);
      await person.open();
      await says(person.page, /Cookies are needed/);
    });
  }

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "with scripts" : "without";
    test(`a visitor who would have to wait holds nothing, however long their page is open, ${how}`, async () => {
      await using gate = await openGate({ origins: [shop.address], room: { totalActiveUsers: 1 } });
      await enter(gate.address);
      await using browser = await openCookielessBrowser({ javaScriptEnabled });
      const person = await Person.with(browser.context, gate.address);
      await person.open();
      await eventually("nobody waits", async () => (await gate.control.counts()).waiting === 0);
      assert.equal((await gate.control.counts()).onSite, 1, "visitors on the site stay");
    });
  }

  test("a first page that takes its time takes its slot for a short time only, too", async () => {
    await using site = await openPlainSite();
    await using gate = await openGate({ origins: [site.address], room: { newcomerDuration: "3s" } });
    const { status, body } = await ask(`${gate.address}/slowly`, { headers: PAGE });
    assert.deepEqual([status, body.includes("<p>29")], [200, true]);
    await eventually("nobody is on the site", async () => (await slotsTaken(gate.control)) === 0);
  });

  test("a web manifest, which browsers fetch without cookies, takes no slot", async () => {
    await using gate = await openGate({ origins: [shop.address] });
    await using browser = await openBrowser();
    await using context = await browser.newContext();
    const slots = watchSlots(gate.control);
    const person = await Person.with(context, gate.address);
    await person.open();
    await person.isInside();
    const tools = await context.newCDPSession(person.page);
    const { data } = await tools.send("Page.getAppManifest");
    assert.equal(JSON.parse(data ?? "{}").name, "The shop");
    assert.equal(await slots.most(), 1);
  });

  test("a program with ten requests a second takes at most a tenth of the room, and others get in", async () => {
    await using site = await openPlainSite();
    await using gate = await openGate({ origins: [site.address], room: { totalActiveUsers: 200 } });
    const slots = watchSlots(gate.control);
    // A minute's worth, as fast as they are answered.
    for (let second = 0; second < 60; second++) {
      const asked = Array.from({ length: 10 }, (_, n) => KINDS[n % KINDS.length]!);
      await Promise.all(asked.map((headers) => ask(gate.address, { headers, localAddress: "127.0.0.9" })));
    }
    const most = await slots.most();
    assert.ok(most <= 20, `${most} slots of 200`);
    await enter(gate.address);
    await eventually("nobody waits", async () => (await gate.control.counts()).waiting === 0);
  });
});
