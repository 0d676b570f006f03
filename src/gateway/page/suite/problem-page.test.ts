/**
 * The pages for those without a place, in a real browser: times in the visitor's own zone, coming again by itself, the
 * task that is solved before one may join, and whether everyone can use them.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { FakeGateway } from "../../../testing/page/fake-gateway.ts";
import {
  axeViolations,
  closeBrowser,
  isTooWide,
  openPageBrowser,
  SHOTS,
  shows,
  visit,
} from "../../../testing/page/visit.ts";
import { isSolved } from "../../abuse/work.ts";
import type { ErrorPage } from "../problem.ts";

const TOGETHER = { concurrency: 5 };
const NOW = Date.UTC(2030, 0, 31, 13, 5);
const HOUR_MS = 3_600_000;
const WORK = { room: "shop", challenge: "a-signed-slip", bits: 9 };

before(openPageBrowser);
after(closeBrowser);

/** Serves this page in place of the waiting page. Its status is good, for browsers complain of others. */
function turnedAway(problem: Pick<ErrorPage, "kind"> & Partial<ErrorPage>): (gateway: FakeGateway) => void {
  return (gateway) => {
    gateway.problem = { status: 200, id: "k3f9", ...problem };
  };
}

describe("those without a place", TOGETHER, () => {
  test("see when it opens in their own zone, and a countdown by the server's clock", async () => {
    const prepare = async (gateway: FakeGateway, page: Page) => {
      await page.clock.install({ time: NOW - 9 * HOUR_MS });
      turnedAway({ kind: "opensLater", at: NOW + 3 * HOUR_MS, now: NOW })(gateway);
    };
    await visit({ prepare, browser: { timezoneId: "Asia/Tokyo" } }, async ({ page, faults }) => {
      await page.getByText("Opens: 1 February 2030 at 01:05").waitFor();
      const timer = page.getByRole("timer", { name: "Time until the opening" });
      await timer
        .filter({ hasText: /^3 hours0 minutes0 seconds$|^2 hours5\d minutes\d+ seconds$/ })
        .waitFor();
      await page.clock.fastForward(2 * HOUR_MS);
      await timer.filter({ hasText: /^1 hour0 minutes0 seconds$|^5\d minutes\d+ seconds$/ }).waitFor();
      assert.deepEqual(faults, []);
    });
  });

  test("reload at the opening, with JavaScript and without", async () => {
    for (const javaScriptEnabled of [true, false]) {
      const prepare = turnedAway({ kind: "opensLater", at: NOW + 1_000, now: NOW });
      await visit({ prepare, browser: { javaScriptEnabled } }, async ({ gateway, page }) => {
        await page.getByRole("heading", { name: "Not open yet" }).waitFor();
        gateway.problem = null;
        await shows(page, "ahead", "128");
      });
    }
  });

  test("reload after the first contact of an entry delay", async () => {
    const prepare = turnedAway({ kind: "checking", retryAfterSeconds: 1 });
    await visit({ prepare, browser: { javaScriptEnabled: false } }, async ({ gateway, page }) => {
      await page.getByRole("heading", { name: "One moment…" }).waitFor();
      gateway.problem = null;
      await shows(page, "ahead", "128");
    });
  });

  test("have a task solved by their browser, which then joins with the solution and goes on", async () => {
    const prepare = turnedAway({ kind: "proofOfWork", work: WORK });
    await visit({ prepare }, async ({ gateway, page, address, faults }) => {
      await shows(page, "ahead", "128");
      assert.equal(gateway.solutions.length, 1);
      assert.ok(isSolved(WORK.challenge, WORK.bits, gateway.solutions[0]!));
      assert.equal(page.url(), `${address}/`);
      assert.deepEqual(faults, []);
    });
  });

  test("see the progress of the task", async () => {
    const prepare = turnedAway({ kind: "proofOfWork", work: { ...WORK, bits: 32 } });
    await visit({ prepare }, async ({ page }) => {
      const bar = page.getByRole("progressbar", { name: "A small task for your browser" });
      await bar.waitFor();
      await page.waitForFunction("document.querySelector('progress').value > 0");
      assert.equal(await page.getByText("JavaScript is off").isVisible(), false);
    });
  });

  test("are told without JavaScript that the task needs it, and are not left to wait for nothing", async () => {
    const prepare = turnedAway({ kind: "proofOfWork", work: WORK });
    await visit({ prepare, browser: { javaScriptEnabled: false } }, async ({ page }) => {
      const notice = page.locator("noscript .notice");
      await notice.waitFor();
      assert.match((await notice.textContent())!, /Please turn JavaScript on/);
      assert.equal(await page.getByRole("progressbar").isVisible(), false);
    });
  });

  test("can go on by a link", async () => {
    const prepare = turnedAway({ kind: "codeBad", link: { href: "/?seat=1" } });
    await visit({ prepare }, async ({ gateway, page, address }) => {
      gateway.problem = { status: 200, id: "", kind: "ended" };
      await page.getByRole("link", { name: "Join the line like everyone else" }).click();
      await page.getByRole("heading", { name: "This has ended" }).waitFor();
      assert.equal(page.url(), `${address}/?seat=1`);
    });
  });
});

describe("everyone can use these pages", TOGETHER, () => {
  const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 };
  const at = NOW + 51 * HOUR_MS;
  const kinds: readonly (Pick<ErrorPage, "kind"> & Partial<ErrorPage>)[] = [
    { kind: "ended" },
    { kind: "opensLater", at, now: NOW },
    { kind: "rejected" },
    { kind: "notPrivileged" },
    { kind: "inviteUsed", link: { href: "/" } },
    { kind: "codeBad", link: { href: "/" } },
    { kind: "visitsUsed", at },
    // These two load themselves again, and should not while axe looks at them.
    { kind: "tooManyJoins", retryAfterSeconds: 110 },
    { kind: "checking", retryAfterSeconds: 600 },
    { kind: "proofOfWork", work: { ...WORK, bits: 32 } },
    { kind: "wrongBrowser", link: { href: "" } },
  ];
  for (const problem of kinds) {
    test(`axe finds nothing wrong, and nothing sticks out: ${problem.kind}`, async () => {
      const browser = { ...phone, locale: "ar", colorScheme: "dark" } as const;
      await visit({ browser, prepare: turnedAway(problem) }, async ({ page, faults }) => {
        await page.screenshot({ path: join(SHOTS, `${problem.kind}.png`), fullPage: true });
        assert.deepEqual(await axeViolations(page), []);
        assert.equal(await isTooWide(page), false);
        await page.evaluate("document.documentElement.style.fontSize = '200%'");
        assert.equal(await isTooWide(page), false);
        assert.deepEqual(faults, []);
      });
    });
  }
});
