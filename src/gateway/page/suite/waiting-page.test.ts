/**
 * The waiting page in a real browser, in front of a stand-in gateway: live by events, by the board, by check-ins and
 * without JavaScript; the turn; what is said when something is wrong; and whether everyone can use it.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { boardWith, type FakeGateway, SEQUENCE } from "../../../testing/page/fake-gateway.ts";
import {
  axeViolations,
  closeBrowser,
  isTooWide,
  openPageBrowser,
  SHOTS,
  shownText,
  shows,
  type VisitPlan,
  visit,
} from "../../../testing/page/visit.ts";
import { proves } from "../../../testing/requirements/proves.ts";
import { cookieStyle } from "../cookie-style.ts";

/** Most of a test's time is waiting for the page's own timers, so several run side by side. */
const TOGETHER = { concurrency: 5 };
const WAITING = { status: "waiting", state: "queueing", waiting: 900, message: "", nextCheckInMs: 400 };
const WAIT_MS = { low: 240_000, middle: 360_000, high: 500_000 };

before(openPageBrowser);
after(closeBrowser);

describe("the page with events", TOGETHER, () => {
  test(proves(["ce9", "ce10"], "numbers, words, progress and the tab title follow the board"), async () => {
    await visit({}, async ({ gateway, page, faults }) => {
      await shows(page, "ahead", "128");
      await gateway.listeners(1);
      gateway.push({ ahead: 57, message: "Seats in block B have been added." });
      await shows(page, "ahead", "57");
      assert.equal(await shownText(page, "wait"), "about 1 to 3 minutes");
      assert.equal(await shownText(page, "waiting"), "557");
      assert.equal(await shownText(page, "message"), "Seats in block B have been added.");
      assert.equal(await page.title(), "57 · You are in line – Harbour Tickets");
      assert.equal(await page.locator("progress").getAttribute("value"), "86");
      assert.equal(await page.locator("progress").getAttribute("class"), "moves");
      gateway.push({ ahead: 57, state: "paused" });
      await shows(page, "heading", "The line is paused");
      assert.equal(await shownText(page, "wait"), "not known yet");
      assert.equal(await page.locator('[data-live="messageBox"]').isVisible(), false);
      gateway.push({ ahead: 0 });
      await shows(page, "heading", "You are next");
      assert.equal(await page.locator("progress").getAttribute("value"), "100");
      for (const name of ["count", "waitRow"])
        assert.equal(await page.locator(`[data-live="${name}"]`).isVisible(), false, name);
      assert.match((await shownText(page, "announce")) ?? "", /You are next/);
      assert.deepEqual(faults, []);
    });
  });

  test("in front of a shop, what is left is said as soon as the board tells it", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.board = boardWith({ ahead: 128, stock: { isSoldOut: false, reach: null } });
    };
    await visit({ prepare }, async ({ gateway, page, faults }) => {
      await shows(page, "ahead", "128");
      await gateway.listeners(1);
      assert.equal(await page.locator('[data-live="stock"]').isVisible(), false);
      gateway.push({ ahead: 120, stock: { isSoldOut: false, reach: 100 } });
      await shows(page, "stock", /There may be nothing left when it's your turn/);
      assert.equal(await shownText(page, "heading"), "You are in line");
      gateway.push({ ahead: 90, stock: { isSoldOut: false, reach: 100 } });
      await shows(page, "ahead", "90");
      assert.equal(await page.locator('[data-live="stock"]').isVisible(), false);
      gateway.push({ ahead: 80, stock: { isSoldOut: true, reach: 0 } });
      await shows(page, "stock", /Everything is sold out/);
      assert.deepEqual(await axeViolations(page), []);
      assert.deepEqual(faults, []);
    });
  });

  test("never shows more people ahead than before, not even after a reload", async () => {
    await visit({}, async ({ gateway, page }) => {
      await gateway.listeners(1);
      gateway.push({ ahead: 57 });
      await shows(page, "ahead", "57");
      gateway.push({ ahead: 80, message: "newer" });
      await shows(page, "message", "newer");
      assert.equal(await shownText(page, "ahead"), "57");
      await page.reload();
      await shows(page, "ahead", "57");
    });
  });

  test("while events come there is no poll and no check-in, and the header's reload does not happen", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.refreshSeconds = 4;
      gateway.view = { nextCheckInMs: 400 };
      gateway.checkIn = { ...WAITING, ahead: 128, waitMs: WAIT_MS };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await gateway.listeners(1);
      gateway.push({ ahead: 99 });
      await shows(page, "ahead", "99");
      // From here on events come. Before, on a busy machine, they may have been too late for the page.
      gateway.asked.length = 0;
      await page.waitForTimeout(5_000);
      gateway.push({ ahead: 57 });
      await shows(page, "ahead", "57");
      assert.deepEqual(gateway.asked, []);
    });
  });

  test("a server that says goodbye is listened to again", async () => {
    await visit({}, async ({ gateway, page }) => {
      await gateway.listeners(1);
      gateway.send("bye", {});
      await gateway.listeners(2);
      gateway.push({ ahead: 9 });
      await shows(page, "ahead", "9");
    });
  });
});

describe("the page without events", TOGETHER, () => {
  test("reads the board", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.hasEvents = false;
      gateway.checkIn = { ...WAITING, ahead: 128, waitMs: WAIT_MS, nextCheckInMs: 60_000 };
      gateway.view = { nextCheckInMs: 60_000 };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      gateway.push({ ahead: 42 });
      await shows(page, "ahead", "42");
      assert.equal(gateway.count("POST /.fairgate/shop/check-in"), 0);
    });
  });

  test("checks in when the board fails too, as often as it is told", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.hasEvents = false;
      gateway.isBoardBroken = true;
      gateway.view = { nextCheckInMs: 400 };
      gateway.checkIn = { ...WAITING, ahead: 31, waitMs: WAIT_MS };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await shows(page, "ahead", "31");
      assert.equal(await shownText(page, "wait"), "about 4 to 9 minutes");
      gateway.checkIn = { ...WAITING, ahead: 30, waitMs: WAIT_MS };
      await shows(page, "ahead", "30");
    });
  });

  test("says that the connection is lost and the place kept, until it is back", async () => {
    await visit({}, async ({ gateway, page }) => {
      await gateway.listeners(1);
      await page.context().setOffline(true);
      await shows(
        page,
        "notice",
        "The connection was lost. This page will try again automatically. Your place is kept.",
      );
      await page.context().setOffline(false);
      gateway.push({ ahead: 12 });
      await page.locator('[data-live="notice"]').waitFor({ state: "hidden" });
    });
  });

  test("goes on saying that the former place was lost, until the new one misses a turn", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.view = { notice: "placeLost", missedTurnsMax: 3, nextCheckInMs: 400 };
      gateway.hasEvents = false;
      gateway.checkIn = { ...WAITING, ahead: 12 };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await shows(page, "ahead", "12");
      assert.match((await shownText(page, "notice"))!, /your former place is gone. This is a new one/);
      gateway.checkIn = { ...WAITING, ahead: 12, missedTurns: 1, missedAt: 0 };
      await shows(page, "notice", /Missed turns: 1 of 3/);
    });
  });

  test("says that the line cannot be reached until it can", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.view = { notice: "engineAway", nextCheckInMs: 60_000 };
      gateway.hasEvents = false;
      gateway.isBoardBroken = true;
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await shows(
        page,
        "notice",
        "We cannot reach the line right now. This page will try again automatically. Your place is kept.",
      );
      gateway.isBoardBroken = false;
      await page.locator('[data-live="notice"]').waitFor({ state: "hidden" });
    });
  });
});

describe("the turn", TOGETHER, () => {
  test("comes by an event and loads the same address", async () => {
    await visit({}, async ({ gateway, page, address }) => {
      await gateway.listeners(1);
      gateway.isAdmitted = true;
      gateway.send("turn", {});
      await page.getByRole("heading", { name: "The shop" }).waitFor();
      assert.equal(page.url(), `${address}/`);
    });
  });

  test("comes by a check-in", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.hasEvents = false;
      gateway.isBoardBroken = true;
      gateway.view = { nextCheckInMs: 400 };
      gateway.checkIn = { ...WAITING, ahead: 31, waitMs: WAIT_MS };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await shows(page, "ahead", "31");
      gateway.isAdmitted = true;
      gateway.checkIn = { status: "admitted", claimByMs: 60_000 };
      await page.getByRole("heading", { name: "The shop" }).waitFor();
    });
  });

  test("comes by the board once a check-in agrees", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.hasEvents = false;
      gateway.view = { nextCheckInMs: 60_000 };
      gateway.checkIn = { status: "admitted", claimByMs: 60_000 };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      gateway.isAdmitted = true;
      gateway.push({ ahead: 0, admitted: SEQUENCE });
      await page.getByRole("heading", { name: "The shop" }).waitFor();
    });
  });

  test("is not taken from the board alone by someone who was away and still waits", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.hasEvents = false;
      gateway.view = { nextCheckInMs: 60_000 };
      gateway.checkIn = { ...WAITING, ahead: 3, waitMs: WAIT_MS, nextCheckInMs: 60_000 };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      gateway.push({ ahead: 5, admitted: SEQUENCE });
      await shows(page, "ahead", "3");
      assert.equal(gateway.count("GET /"), 1);
      assert.equal(gateway.count("POST /.fairgate/shop/check-in"), 1);
    });
  });

  test("that leads back to the line is not chased in a loop", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.checkIn = { ...WAITING, ahead: 2, waitMs: WAIT_MS };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await gateway.listeners(1);
      gateway.send("turn", {});
      await gateway.listeners(2);
      gateway.send("turn", {});
      await shows(page, "ahead", "2");
      assert.equal(gateway.count("GET /"), 2);
    });
  });

  test("enters for a visitor whose form was refused, and leaves it to them to send it again", async () => {
    await visit({}, async ({ gateway, page, address }) => {
      await gateway.listeners(1);
      await page.setContent(
        `<form method="post" action="${address}/buy?seat=1#top"><button>Buy</button></form>`,
      );
      await page.getByRole("button").click();
      await shows(page, "notice", /Your form was not sent/);
      await gateway.listeners(2);
      gateway.send("turn", {});
      await shows(page, "lead", /You can send your form now/);
      assert.equal(gateway.count("POST /.fairgate/shop/enter"), 1);
      assert.equal(gateway.count("POST /buy?seat=1"), 1);
      gateway.isAdmitted = true;
      await page.getByRole("link", { name: "Send my form again" }).click();
      await page.getByRole("heading", { name: "The shop" }).waitFor();
      assert.equal(gateway.count("POST /buy?seat=1"), 2);
      assert.equal(gateway.count("GET /buy?seat=1"), 0);
    });
  });

  test("is announced in the title, and by sound and notification on request", async () => {
    const prepare = async (_: FakeGateway, page: Page) => {
      await page.context().grantPermissions(["notifications"]);
      // Kept beyond the page, which goes away a moment after it has told.
      await page.addInitScript(`
        const told = JSON.parse(sessionStorage.getItem("told") ?? "[]");
        const note = (what) => { told.push(what); sessionStorage.setItem("told", JSON.stringify(told)); };
        class Notice {
          static permission = "granted";
          constructor(title) {
            const heading = document.querySelector('[data-live="heading"]').textContent;
            note({ title, heading, tab: document.title });
          }
        }
        window.Notification = Notice;
        const start = OscillatorNode.prototype.start;
        OscillatorNode.prototype.start = function (at) { note("note"); start.call(this, at); };
      `);
    };
    await visit({ prepare }, async ({ gateway, page, faults }) => {
      await gateway.listeners(1);
      const button = page.getByRole("button", { name: "Notify me when it's my turn" });
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate("document.activeElement.dataset.live"), "alertsButton");
      assert.match(String(await page.evaluate("getComputedStyle(document.activeElement).outline")), /3px/);
      await page.keyboard.press("Enter");
      await shows(page, "alertsStatus", "We will notify you when it's your turn. Please keep this tab open.");
      assert.equal(await button.getAttribute("aria-pressed"), "true");
      gateway.isAdmitted = true;
      gateway.send("turn", { claimByMs: 60_000 });
      await page.getByRole("heading", { name: "The shop" }).waitFor();
      const [turn, told] = ["It is your turn", await page.evaluate("JSON.parse(sessionStorage.told)")];
      const notice = { title: turn, heading: turn, tab: turn };
      assert.deepEqual(told, ["note", "note", "note", "note", notice]);
      assert.deepEqual(faults, []);
    });
  });

  test("an expired place is announced, with a link to a new one", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.hasEvents = false;
      gateway.view = { nextCheckInMs: 400 };
      gateway.checkIn = { status: "expired" };
    };
    await visit({ prepare }, async ({ gateway, page }) => {
      await shows(page, "heading", "Your place has expired");
      assert.equal(await page.locator('[data-live="place"]').first().isVisible(), false);
      gateway.checkIn = { ...WAITING, ahead: 128, waitMs: WAIT_MS };
      await page.getByRole("link", { name: "Join the line again" }).click();
      await shows(page, "heading", "You are in line");
      assert.equal(gateway.count("GET /"), 2);
    });
  });
});

test("without JavaScript the page shows the same, reloads by its header, and ends at the site", async () => {
  const prepare = (gateway: FakeGateway) => {
    gateway.refreshSeconds = 1;
  };
  await visit({ prepare, browser: { javaScriptEnabled: false } }, async ({ gateway, page, faults }) => {
    await shows(page, "ahead", "128");
    assert.equal(await shownText(page, "wait"), "about 3 to 6 minutes");
    assert.equal(await shownText(page, "updated"), "12:00 PM UTC");
    assert.equal(await page.locator('[data-live="alerts"]').isVisible(), false);
    gateway.push({ ahead: 99 });
    await shows(page, "ahead", "99");
    gateway.isAdmitted = true;
    await page.getByRole("heading", { name: "The shop" }).waitFor();
    assert.deepEqual(faults, []);
  });
});

test("without JavaScript a refused form stays, for its sender to send again by a reload", async () => {
  await visit({ browser: { javaScriptEnabled: false } }, async ({ gateway, page, address }) => {
    await page.setContent(`<form method="post" action="${address}/buy?seat=1"><button>Buy</button></form>`);
    gateway.refreshSeconds = 1;
    await page.getByRole("button").click();
    await shows(page, "notice", /Your form was not sent/);
    assert.match(await page.locator("main").innerText(), /browser will then offer to send the form again/);
    gateway.isAdmitted = true;
    await page.reload();
    await page.getByRole("heading", { name: "The shop" }).waitFor();
    assert.equal(gateway.count("POST /buy?seat=1"), 2);
    assert.equal(gateway.count("GET /buy?seat=1"), 0);
  });
});

for (const javaScriptEnabled of [true, false])
  test(`a browser that does not keep our cookie is told so, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.hasEvents = false;
      gateway.cookieStyle = cookieStyle("de");
    };
    await visit({ prepare, browser: { javaScriptEnabled } }, async ({ page }) => {
      await page.locator(".fairgate-cookies").waitFor();
      assert.equal(await page.locator("h1").isVisible(), false);
      // What a screen reader has of it.
      assert.match(await page.locator("main").ariaSnapshot(), /Cookies werden benötigt.*Bitte/s);
    });
  });

describe("everyone can use it", TOGETHER, () => {
  const looks: Record<string, VisitPlan> = {
    "light-desktop": { browser: { viewport: { width: 1280, height: 900 } } },
    "dark-desktop": { browser: { colorScheme: "dark", viewport: { width: 1280, height: 900 } } },
    "light-phone": { browser: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 } },
    "dark-phone-arabic": {
      browser: {
        locale: "ar",
        colorScheme: "dark",
        viewport: { width: 360, height: 740 },
        deviceScaleFactor: 2,
      },
    },
    "rtl-desktop-arabic": { browser: { locale: "ar-EG", viewport: { width: 1280, height: 900 } } },
    "german-pale-colour": {
      browser: { locale: "de-AT" },
      look: { colour: "#ffe45c", background: "#fff6c2" },
    },
    "dark-colour-and-image": {
      browser: { colorScheme: "dark" },
      look: { colour: "#0b1020", backgroundImage: "data:image/svg+xml,<svg/>" },
    },
    "forced-colours": { browser: { forcedColors: "active" } },
  };
  for (const [name, plan] of Object.entries(looks)) {
    test(`axe finds nothing wrong, and nothing sticks out: ${name}`, async () => {
      const prepare = (gateway: FakeGateway) => {
        gateway.push({
          ahead: 128,
          message: "Doors open at 19:00.\nTickets are held for ten minutes once you are in.",
        });
      };
      await visit({ ...plan, prepare }, async ({ page, faults }) => {
        await page.locator('[data-live="alerts"]').waitFor();
        await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
        if (name === "light-desktop") assert.deepEqual(await axeViolations(page), []);
        await page.locator('[data-live="alertsButton"]').click();
        assert.deepEqual(await axeViolations(page), []);
        assert.equal(await isTooWide(page), false);
        assert.deepEqual(faults, []);
      });
    });
  }

  for (const locale of ["en", "de", "fi", "ar"])
    test(`that the place is kept is seen without scrolling: ${locale}`, async () => {
      await visit({ browser: { locale } }, async ({ page }) => {
        await page.locator('[data-live="alerts"]').waitFor();
        for (const [width, height] of [
          [1_280, 800],
          [390, 844],
          [360, 640],
        ] as const) {
          await page.setViewportSize({ width, height });
          const { y, height: own } = (await page.locator('[data-live="help"]').boundingBox())!;
          assert.ok(y >= 0 && y + own <= height, `${width} x ${height}: ${y} + ${own}`);
        }
      });
    });

  test("nothing moves for those who asked for no motion", async () => {
    const moving = "document.getAnimations().length";
    await visit({}, async ({ page }) => assert.equal(await page.evaluate(moving), 1));
    await visit({ browser: { reducedMotion: "reduce" } }, async ({ page }) =>
      assert.equal(await page.evaluate(moving), 0),
    );
  });

  test("nothing is lost at 320 pixels wide with text at twice its size", async () => {
    const plan = { browser: { viewport: { width: 320, height: 640 }, locale: "de" } };
    await visit(plan, async ({ page }) => {
      await page.locator('[data-live="alerts"]').waitFor();
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      assert.equal(await isTooWide(page), false);
    });
  });
});
