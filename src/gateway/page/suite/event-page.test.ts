/**
 * The waiting page of an event in a real browser, in front of a stand-in gateway: the countdown, the draw and its check,
 * lanes, and what may not be known.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { DrawNotice } from "../../../core/board.ts";
import {
  boardWith,
  type FakeGateway,
  marksWith,
  SEQUENCE,
  WAITS,
} from "../../../testing/page/fake-gateway.ts";
import {
  axeViolations,
  closeBrowser,
  isTooWide,
  isVisible,
  openPageBrowser,
  SHOTS,
  shownText,
  shows,
  type VisitPlan,
  visit,
} from "../../../testing/page/visit.ts";

const TOGETHER = { concurrency: 5 };
const NOW = 1_900_000_000_000;
const MINUTE_MS = 60_000;
const SEED = "5eed".repeat(16);
const HASH = createHash("sha256").update(Buffer.from(SEED, "hex")).digest("hex");
const DRAW: DrawNotice = { event: "spring", seedHash: HASH, seed: null };
const WAITING = { status: "waiting", state: "queueing", waiting: 900, message: "", nextCheckInMs: 60_000 };
const WAIT_MS = { low: 240_000, middle: 360_000, high: 500_000 };
const CHECK_IN = "POST /.fairgate/shop/check-in";

before(openPageBrowser);
after(closeBrowser);

/** A page opened before the start, with so long to go. */
function gathering(leftMs: number, draw?: DrawNotice): (gateway: FakeGateway) => void {
  return (gateway) => {
    const opensAt = NOW + leftMs;
    gateway.board = boardWith({ ahead: 128, state: "prequeue", opensAt, ...(draw && { draw }) });
    gateway.view = { now: NOW };
  };
}

/** Puts a page's clock in the test's hands, so much ahead of the server's. */
async function wrongClock(page: Page, aheadMs: number): Promise<void> {
  await page.clock.install({ time: NOW + aheadMs });
}

/** Has the page note everything it tells screen readers. */
async function noteAnnouncements(page: Page): Promise<void> {
  await page.addInitScript(`
    window.announced = [];
    new MutationObserver(() => {
      const said = document.querySelector('[data-live="announce"]')?.textContent;
      if (said && said !== announced.at(-1)) announced.push(said);
    }).observe(document, { subtree: true, childList: true, characterData: true });
  `);
}

/** Has the page note what it says above the number, and the number where it shows one. */
async function noteLeads(page: Page): Promise<void> {
  await page.addInitScript(`
    window.leads = [];
    new MutationObserver(() => {
      const ahead = document.querySelector('[data-live="ahead"]');
      const number = ahead?.checkVisibility() ? " " + ahead.textContent : "";
      leads.push(document.querySelector('[data-live="lead"]')?.textContent + number);
    }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  `);
}

const announced = (page: Page) => page.evaluate("announced") as Promise<string[]>;

describe("before the opening", TOGETHER, () => {
  for (const [name, aheadMs] of [
    ["slow", -60 * MINUTE_MS],
    ["fast", 60 * MINUTE_MS],
  ] as const) {
    test(`the page counts down by the server's clock, where the visitor's is ${name}`, async () => {
      const prepare = async (gateway: FakeGateway, page: Page) => {
        await wrongClock(page, aheadMs);
        gathering(49 * 60 * MINUTE_MS + 2 * MINUTE_MS)(gateway);
      };
      await visit({ prepare, browser: { timezoneId: "Asia/Tokyo" } }, async ({ page, faults }) => {
        await shows(page, "countdown", /^2 days1 hour[012] minutes?\d+ seconds?$/);
        await page.clock.fastForward(2 * MINUTE_MS);
        await shows(
          page,
          "countdown",
          /^2 days0 hours5\d minutes\d+ seconds?$|^2 days1 hour0 minutes0 seconds$/,
        );
        assert.equal(await shownText(page, "opens"), "Opens: 20 March 2030 at 03:48");
        assert.deepEqual(faults, []);
      });
    });
  }

  test("screen readers hear of a few marks and of the opening, and nothing in between", async () => {
    const prepare = async (gateway: FakeGateway, page: Page) => {
      await wrongClock(page, -60 * MINUTE_MS);
      await noteAnnouncements(page);
      gathering(61 * MINUTE_MS)(gateway);
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await shows(page, "countdown", /hour/);
      for (let minute = 0; minute < 122; minute++) await page.clock.fastForward(MINUTE_MS / 2);
      const told = ["1 hour", "10 minutes", "1 minute", "10 seconds"];
      const marks = (await announced(page)).filter((said) => said.startsWith("Time until the opening"));
      assert.deepEqual(
        marks,
        told.map((left) => `Time until the opening: ${left}`),
      );
      await shows(page, "countdown", /^0 minutes0 seconds$/);
      gateway.checkIn = { ...WAITING, ahead: 128, waitMs: WAIT_MS };
      gateway.push({ ahead: 128 });
      await shows(page, "heading", "You are in line");
      assert.match((await announced(page)).at(-1)!, /^You are in line\. 128 people ahead of you/);
      assert.equal(await isVisible(page, "opening"), false);
    });
  });

  test("a first come first served line keeps its numbers, has no wait to tell, and nothing of a draw", async () => {
    await visit({ prepare: gathering(5 * MINUTE_MS) }, async ({ page }) => {
      await shows(page, "countdown", /minutes/);
      await shows(page, "ahead", "128");
      await shows(page, "behind", "499");
      assert.equal(await isVisible(page, "waitRow"), false);
      assert.equal(await page.locator('[data-live="draw"]').count(), 0);
    });
  });

  test("without JavaScript the time is printed, and there is no countdown that stands still", async () => {
    const prepare = gathering(5 * MINUTE_MS, DRAW);
    await visit({ prepare, browser: { javaScriptEnabled: false } }, async ({ page }) => {
      assert.equal(await shownText(page, "opens"), "Opens: March 17, 2030 at 5:51 PM UTC");
      assert.equal(await isVisible(page, "countdown"), false);
      await shows(page, "lead", /same chance/);
      await page.getByText("How the draw works").click();
      await shows(page, "seedHash", HASH);
    });
  });

  test("a page from before the prequeue reloads and then has its texts", async () => {
    const prepare = (_: FakeGateway, page: Page) => page.clock.install();
    await visit({ prepare }, async ({ gateway, page }) => {
      await gateway.listeners(1);
      gateway.push({ ahead: 128, state: "prequeue", opensAt: NOW + 30 * MINUTE_MS });
      await shows(page, "heading", "Not open yet");
      await page.clock.fastForward(10_000);
      await shows(page, "countdown", /minutes/);
      assert.equal(gateway.count("GET /"), 2);
    });
  });
});

describe("the draw", TOGETHER, () => {
  test("shows no numbers before it, and says that everyone has the same chance", async () => {
    await visit({ prepare: gathering(MINUTE_MS, DRAW) }, async ({ page, faults }) => {
      await shows(page, "countdown", /minute/);
      await shows(page, "lead", /Everyone who is here by then has the same chance/);
      await shows(page, "waitingLabel", "People here so far");
      await shows(page, "waiting", "628");
      for (const name of ["ahead", "behindRow", "progress", "receipt", "seedRow"])
        assert.equal(await isVisible(page, name), false, name);
      assert.equal(await page.title(), "Not open yet – Harbour Tickets");
      assert.deepEqual(faults, []);
    });
  });

  test("gives a new place that is asked for once; its seed is checked; the receipt tells the place", async () => {
    const prepare = async (gateway: FakeGateway, page: Page) => {
      await noteLeads(page);
      gathering(MINUTE_MS, DRAW)(gateway);
    };
    await visit({ prepare }, async ({ gateway, page, faults }) => {
      await gateway.listeners(1);
      gateway.checkIn = { ...WAITING, sequence: SEQUENCE + 300, ahead: 428, waitMs: WAIT_MS };
      gateway.receipt = { place: 429, of: 1_628 };
      gateway.push({ ahead: 128, draw: { ...DRAW, seed: SEED } });
      await shows(page, "ahead", "428");
      const leads = (await page.evaluate("leads")) as string[];
      assert.ok(
        leads.includes("The order is being drawn. Your place will appear here in a moment."),
        `${leads}`,
      );
      await shows(page, "drawCheck", "Your browser has checked the draw.");
      assert.equal(await shownText(page, "waitingLabel"), "People in line");
      assert.equal(await page.locator("progress").getAttribute("value"), "0");
      assert.equal(gateway.count(CHECK_IN), 1);
      assert.equal(gateway.count("GET /.fairgate/shop/receipt"), 0);
      // From here on the board tells the rest: the new sequence is 300 behind the old one.
      gateway.push({ ahead: 28, draw: { ...DRAW, seed: SEED } });
      await shows(page, "ahead", "328");
      await page.getByText("How the draw works").click();
      await shows(page, "drawPlace", "Your place in the draw: 429 of 1,628");
      await shows(page, "seed", SEED);
      const link = page.getByRole("link", { name: "Save your receipt of the draw" });
      assert.equal(await link.getAttribute("href"), "/.fairgate/shop/receipt");
      assert.deepEqual(faults, []);
    });
  });

  test("with a seed that was not promised is reported", async () => {
    await visit({ prepare: gathering(MINUTE_MS, DRAW) }, async ({ gateway, page }) => {
      await gateway.listeners(1);
      const seed = "bad0".repeat(16);
      const seedHash = createHash("sha256").update(Buffer.from(seed, "hex")).digest("hex");
      gateway.push({ ahead: 128, draw: { event: "spring", seedHash, seed } });
      await shows(page, "drawCheck", /does not match the fingerprint shown before the start/);
    });
  });

  test("is checked against the hash seen before the start, also after a reload", async () => {
    await visit({ prepare: gathering(MINUTE_MS, DRAW) }, async ({ gateway, page }) => {
      await gateway.listeners(1);
      gateway.view = {};
      gateway.board = boardWith({ ahead: 77, version: 9, draw: { ...DRAW, seed: SEED } });
      await page.reload();
      await shows(page, "ahead", "77");
      await shows(page, "drawCheck", "Your browser has checked the draw.");
    });
  });

  test("says nothing of a check to those who never saw the promise, and has no receipt for latecomers", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.board = boardWith({ ahead: 500, draw: { ...DRAW, seed: SEED } });
      gateway.view = { isDrawn: false };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await gateway.listeners(1);
      gateway.push({ ahead: 499, draw: { ...DRAW, seed: SEED } });
      await shows(page, "ahead", "499");
      assert.equal(await isVisible(page, "drawCheck"), false);
      assert.equal(await isVisible(page, "receipt"), false);
      await page.getByText("How the draw works").click();
      await shows(page, "seed", SEED);
    });
  });

  test("an answer from before it does not count, and the page asks again", async () => {
    await visit({ prepare: gathering(MINUTE_MS, DRAW) }, async ({ gateway, page }) => {
      await gateway.listeners(1);
      gateway.checkIn = { ...WAITING, state: "prequeue", ahead: null, waitMs: null, nextCheckInMs: 300 };
      gateway.push({ ahead: 128, draw: { ...DRAW, seed: SEED } });
      await page.waitForResponse((response) => response.url().endsWith("check-in"));
      await shows(page, "heading", "You are in line");
      assert.equal(await isVisible(page, "ahead"), false);
      gateway.checkIn = { ...WAITING, sequence: SEQUENCE - 100, ahead: 28, waitMs: WAIT_MS };
      await shows(page, "ahead", "28");
    });
  });

  test("a larger number after it is no contradiction: nothing was shown for the new place", async () => {
    const prepare = (gateway: FakeGateway) => {
      gathering(MINUTE_MS)(gateway);
      gateway.board = boardWith({ ahead: 20, state: "prequeue", opensAt: NOW + MINUTE_MS });
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await shows(page, "ahead", "20");
      await gateway.listeners(1);
      gateway.push({ ahead: 128, state: "prequeue", opensAt: NOW + MINUTE_MS, draw: DRAW });
      await page.locator('[data-live="ahead"]').waitFor({ state: "hidden" });
      gateway.checkIn = { ...WAITING, sequence: SEQUENCE + 300, ahead: 428, waitMs: WAIT_MS };
      gateway.push({ ahead: 128, draw: { ...DRAW, seed: SEED } });
      await shows(page, "ahead", "428");
    });
  });
});

describe("lanes", TOGETHER, () => {
  test("a visitor finds themselves on the board of their own lane", async () => {
    const lanes = { 7: { marks: marksWith(12), waits: WAITS, admitted: 0 } };
    const prepare = (gateway: FakeGateway) => {
      gateway.view = { lane: 7, ahead: 15 };
      gateway.board = boardWith({ ahead: 300, lanes });
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await shows(page, "ahead", "12");
      // The lane is no longer on the board: what was told holds.
      gateway.push({ ahead: 2, message: "newer" });
      await shows(page, "message", "newer");
      assert.equal(await shownText(page, "ahead"), "12");
    });
  });

  test("a turn in another lane is not theirs", async () => {
    const lanes = { 7: { marks: marksWith(12), waits: WAITS, admitted: SEQUENCE - 13 } };
    const prepare = (gateway: FakeGateway) => {
      gateway.hasEvents = false;
      gateway.view = { lane: 7, ahead: 15, nextCheckInMs: 60_000 };
      gateway.board = boardWith({ ahead: 0, admitted: SEQUENCE + 10, lanes });
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await shows(page, "ahead", "12");
      assert.equal(gateway.count(CHECK_IN), 0);
      gateway.checkIn = { status: "admitted", claimByMs: 60_000 };
      gateway.isAdmitted = true;
      gateway.push({
        ahead: 0,
        lanes: { 7: { marks: marksWith(0), waits: WAITS, admitted: SEQUENCE } },
      });
      await page.getByRole("heading", { name: "The shop" }).waitFor();
    });
  });
});

describe("what may not be known", TOGETHER, () => {
  test("is not shown, not even when a board or an answer has it", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.view = { show: { ahead: false, behind: false, wait: false } };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await gateway.listeners(1);
      gateway.push({ ahead: 57, message: "newer" });
      await shows(page, "message", "newer");
      for (const name of ["ahead", "progress", "waitRow", "waitingRow", "behindRow"])
        assert.equal(await isVisible(page, name), false, name);
      // The time of day has numbers of its own.
      const shownText = (await page.locator("main").textContent())!.replace(/\d+:\d\d:\d\d/g, "");
      assert.doesNotMatch(shownText, /57|557|not known/);
      assert.equal(await page.title(), "You are in line – Harbour Tickets");
    });
  });

  test("a wait without a number ahead is told by check-ins, while events come too", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.view = { show: { ahead: false, behind: true, wait: true }, nextCheckInMs: 400, waitMs: null };
      gateway.board = boardWith({ ahead: 128, hides: ["ahead"] });
      gateway.checkIn = { ...WAITING, waiting: 628, ahead: null, waitMs: WAIT_MS, nextCheckInMs: 400 };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await gateway.listeners(1);
      await shows(page, "wait", "about 4 to 9 minutes");
      gateway.checkIn = { ...(gateway.checkIn as object), message: "newer" };
      gateway.push({ ahead: 128, hides: ["ahead"], message: "newer" });
      await shows(page, "message", "newer");
      assert.equal(await shownText(page, "wait"), "about 4 to 9 minutes");
      assert.equal(await shownText(page, "waiting"), "628");
      assert.equal(await isVisible(page, "behindRow"), false);
    });
  });

  test("where turns are drawn each time nobody is ahead, so no number is made up", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.board = boardWith({ ahead: 128, hides: ["ahead"] });
      gateway.view = { ahead: null, waitMs: WAIT_MS, nextCheckInMs: 60_000 };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await gateway.listeners(1);
      gateway.push({ ahead: 57, hides: ["ahead"], message: "newer" });
      await shows(page, "message", "newer");
      assert.equal(await isVisible(page, "ahead"), false);
      assert.equal(await shownText(page, "waiting"), "557");
    });
  });
});

describe("everyone can use it", TOGETHER, () => {
  const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 };
  const looks: Record<string, VisitPlan["browser"]> = {
    "gathering-light": { viewport: { width: 1280, height: 900 } },
    "gathering-dark-phone": { ...phone, colorScheme: "dark" },
    "gathering-arabic-phone": { ...phone, locale: "ar" },
    "gathering-finnish-small": { viewport: { width: 320, height: 640 }, locale: "fi" },
    "gathering-forced-colours": { forcedColors: "active" },
  };
  for (const [name, browser = {}] of Object.entries(looks)) {
    test(`axe finds nothing wrong, and nothing sticks out: ${name}`, async () => {
      const prepare = gathering(50 * 60 * MINUTE_MS, DRAW);
      await visit({ browser, prepare }, async ({ page, faults }) => {
        await page.locator('[data-live="countdown"]').waitFor();
        await page.locator("summary").click();
        await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
        assert.deepEqual(await axeViolations(page), []);
        assert.equal(await isTooWide(page), false);
        await page.evaluate("document.documentElement.style.fontSize = '200%'");
        assert.equal(await isTooWide(page), false);
        assert.deepEqual(faults, []);
      });
    });
  }
});
