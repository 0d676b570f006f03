/**
 * How the waiting page looks, and whether everyone can use it: the real page in light and dark, on a phone, from right to left
 * and without JavaScript, checked by axe and written to test/screenshots/ for people to look at. And the demo.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { Control, ownFolder, type Run, startRun } from "../../src/testing/cli/fairgate.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";
import { startDemo } from "../cli/start-demo.ts";

const CROWD = 137;
/**
 * Visitors of the crowd do not come back. On a busy machine they must neither lapse nor be admitted before everyone has looked.
 */
const SETTINGS = `
origin: { addresses: ["http://127.0.0.1:9"] }
rooms:
  main:
    newUsersPerMinute: 30
    queueAll: true
    lapseAfter: 1d
    page: { title: Harbour Tickets }
    message: "Doors open at 19:00. Once you are in, your seats are held for ten minutes."
`;
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

let browser: Browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

describe("the waiting page, as it looks", () => {
  const folder = ownFolder({ "fairgate.yaml": SETTINGS });
  let run: Run;

  before(async () => {
    run = await startRun([], { cwd: folder.path });
    await Promise.all(
      Array.from({ length: CROWD }, () => ProcessVisitor.arrive(run.address).catch(() => null)),
    );
  });
  after(async () => {
    await run?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const looks: Record<string, BrowserContextOptions> = {
    light: {},
    dark: { colorScheme: "dark" },
    phone: PHONE,
    "phone-dark": { ...PHONE, colorScheme: "dark" },
    "right-to-left": { locale: "ar" },
    "no-javascript": { javaScriptEnabled: false },
  };
  for (const [name, options] of Object.entries(looks)) {
    test(`${name}: nothing sticks out, nothing comes from elsewhere, axe finds nothing wrong`, async () => {
      const person = await Person.sitDown(browser, run.address, options);
      try {
        await person.open();
        await person.page.locator('[data-live="ahead"]').waitFor();
        if (options.javaScriptEnabled !== false) {
          await person.page.locator('[data-live="alerts"]').waitFor();
          assert.deepEqual(await person.violations(), []);
          const isTooWide = "document.documentElement.scrollWidth > innerWidth";
          assert.equal(await person.page.evaluate(isTooWide), false);
        }
        const html = person.page.locator("html");
        assert.equal(await html.getAttribute("dir"), name === "right-to-left" ? "rtl" : "ltr");
        assert.equal(await html.getAttribute("lang"), name === "right-to-left" ? "ar" : "en");
        await person.screenshot(name);
        assert.deepEqual(person.faults, []);
      } finally {
        await person.close();
      }
    });
  }
});

test("the demo in a browser: a line that moves, then the shop, by itself", async () => {
  await using demo = await startDemo(["--port", "0", "--crowd", "6"]);
  const person = await Person.sitDown(browser, demo.address);
  const control = new Control(demo.control, demo.token);
  const hold = async (queueAll: boolean) =>
    assert.equal((await control.ask("PATCH", "/rooms/main", { queueAll })).status, 200);
  try {
    await demo.child.prints(/waiting [1-9]\d*/);
    // Six people are admitted within three seconds; the line does not move until it has been looked at.
    await hold(true);
    await person.open();
    await person.sees("heading", /You are (in line|next)/);
    await person.screenshot("demo-line");
    await hold(false);
    await person.isInside("The Lamplighters");
    person.stays();
    await person.page.getByText(/You waited \d+ seconds?/).waitFor();
    assert.deepEqual(await person.violations(), []);
    await person.screenshot("demo-shop");
    await person.page.getByRole("heading", { name: "Balcony" }).waitFor();
  } finally {
    await person.close();
  }
  assert.deepEqual(await demo.child.end("SIGINT"), { code: 0, signal: null });
});
