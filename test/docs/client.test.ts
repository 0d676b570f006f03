/** The code of docs/library.md for browsers, as it stands there, in a browser before a real gateway. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { browserClient } from "../../scripts/browser-client.ts";
import type { CatalogueInput } from "../../src/config/catalogue-schema.ts";
import { openBrowser } from "../../src/testing/browser.ts";
import { type DemoStageOptions, openDemoStage } from "../../src/testing/shop/demo-stage.ts";
import { blocksOf } from "./blocks.ts";

const DOCUMENT = readFileSync(new URL("../../docs/library.md", import.meta.url), "utf8");
const PAGE = `<!doctype html><link rel="icon" href="data:,"><p id="line"></p><p id="shop"></p>
<script type="importmap">{"imports":{"fairgate/client":"/app/client.js"}}</script>
<script type="module" src="/app/page.js"></script>`;
const SEATS: CatalogueInput = {
  currency: "EUR",
  products: {
    seat: { name: "Seat", price: 4_500, stock: 3, options: { parking: 1 } },
    parking: { name: "Parking", price: 800, stock: null, forSale: false },
  },
};

/** The block of JavaScript that contains these words. */
function blockWith(words: string): string {
  const block = blocksOf(DOCUMENT).find(({ language, text }) => language === "js" && text.includes(words));
  assert.ok(block, words);
  return block.text;
}

/** The gateway's address in a browser, where the pages under /app/ are the app's own. */
async function openApp(t: TestContext, script: string, options: DemoStageOptions = {}) {
  const stage = await openDemoStage(options);
  t.after(() => stage[Symbol.asyncDispose]());
  const browser = await openBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  const logged: string[] = [];
  page.on("console", (message) => logged.push(message.text()));
  page.on("pageerror", (error) => logged.push(`thrown: ${error.message}`));
  const files = { "page.js": script, "client.js": browserClient(), "": PAGE };
  await page.route("**/app/**", (route) => {
    const name = new URL(route.request().url()).pathname.replace("/app/", "") as keyof typeof files;
    const contentType = name === "" ? "text/html" : "text/javascript";
    return route.fulfill({ contentType, body: files[name] });
  });
  return { stage, page, logged };
}

const textOf = (page: Page, id: string) => page.locator(`#${id}`);

test("the line of docs/library.md joins, shows who is ahead, and enters", async (t) => {
  const rooms = { main: { totalActiveUsers: 1 } };
  const { stage, page, logged } = await openApp(t, blockWith("createLine({"), { rooms });
  const occupant = await page.context().browser()!.newPage();
  await occupant.goto(stage.address);
  await page.goto(`${stage.address}/app/`);
  await textOf(page, "line")
    .filter({ hasText: /^0 people ahead of you$/ })
    .waitFor();
  await occupant.evaluate('fetch("/.fairgate/main/leave", { method: "POST" })');
  await page.getByRole("heading", { name: "The Lamplighters" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/tickets");
  assert.deepEqual(
    logged.filter((text) => text.startsWith("thrown")),
    [],
  );
});

test("the shop of docs/library.md shows what is left, takes a hold, and says when there is too little", async (t) => {
  const { stage, page, logged } = await openApp(
    t,
    blockWith('createShop({ room: "main" });\nshop.subscribe'),
    { catalogue: SEATS },
  );
  await page.goto(stage.address);
  await page.goto(`${stage.address}/app/`);
  await textOf(page, "shop").filter({ hasText: "Seat: 1, Parking: available; 2 in the basket" }).waitFor();
  assert.deepEqual(
    logged.filter((text) => text.startsWith("thrown")),
    [],
  );
  const told = page.waitForEvent("console", (message) => message.text() === "only 1 left");
  await page.reload();
  await told;
});
