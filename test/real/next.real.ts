/** A shop in Next.js behind the gateway, in an ordinary browser: it works as without a gateway, and a person is one visitor. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContext } from "playwright-core";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { openGate, watchSlots } from "./gate.ts";
import { openNextSite } from "./next-site.ts";
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

describe("a shop in Next.js", () => {
  for (const isSecure of [false, true]) {
    const way = isSecure ? "https and HTTP/2" : "http";
    test(`a page view takes exactly one slot, with all that it loads, prefetches and calls, by ${way}`, async () => {
      await using gate = await openGate({ origins: [shop.address], isSecure });
      await using context = await browser.newContext({ ignoreHTTPSErrors: true });
      const loaded = noteLoads(context);
      const slots = watchSlots(gate.control);
      const person = await Person.with(context, gate.address);
      await person.open();
      await person.isInside();
      await person.page.getByText("42 seats left").waitFor();
      await person.page.waitForFunction("document.querySelector('img').naturalWidth > 0");
      await person.page.getByRole("link", { name: "Row c" }).click();
      await person.isInside("Row c");
      await person.page.getByRole("link", { name: "Back to the shop" }).click();
      await person.isInside();
      assert.equal(await slots.most(), 1);
      assert.deepEqual([loaded.pages, loaded.failed], [1, []]);
      assert.ok(loaded.prefetches >= 5, `${loaded.prefetches} prefetches`);
      assert.deepEqual(person.faults, []);
      const [cookie] = await context.cookies();
      assert.equal(cookie?.name, isSecure ? "__Host-fairgate_main" : "fairgate_main");
      const protocol = await person.page.evaluate(
        "performance.getEntriesByType('navigation')[0].nextHopProtocol",
      );
      assert.equal(protocol, isSecure ? "h2" : "http/1.1");
    });
  }

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "with scripts" : "without";
    test(`a server action goes through, ${how}`, async () => {
      await using gate = await openGate({ origins: [shop.address] });
      await using context = await browser.newContext({ javaScriptEnabled });
      const person = await Person.with(context, gate.address);
      await person.open();
      if (javaScriptEnabled) await person.page.getByText("42 seats left").waitFor();
      const name = `Ada ${how}`;
      await person.page.getByLabel("Name").fill(name);
      await person.page.getByRole("button", { name: "Book" }).click();
      await person.page.getByText(`Booked for ${name}`).waitFor();
      assert.deepEqual(person.faults, []);
    });
  }
});

/** What the browser requests: whole pages, what Next.js prefetches, and what got no good answer. */
function noteLoads(context: BrowserContext) {
  const loaded = { pages: 0, prefetches: 0, failed: [] as string[] };
  context.on("request", (request) => {
    if (request.isNavigationRequest()) loaded.pages++;
    if ("next-router-prefetch" in request.headers()) loaded.prefetches++;
  });
  context.on("response", (response) => {
    if (response.status() >= 400) loaded.failed.push(`${response.status()} ${response.url()}`);
  });
  return loaded;
}
