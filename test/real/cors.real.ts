/** A single-page app on another host, in a real browser: what it can read while there is room, and in a line. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { openBrowser } from "../../src/testing/browser.ts";
import { ask } from "../../src/visitor/ask.ts";
import { openGate, slotsTaken } from "./gate.ts";
import { openPlainSite, type PlainSite } from "./plain-site.ts";
import { enter } from "./program.ts";

let browser: Browser;
let app: PlainSite;
/** The same port under another name is another origin, and another site. */
let appOrigin = "";
before(async () => {
  app = await openPlainSite({ "/app": "<!doctype html><title>An app</title>" });
  appOrigin = app.address.replace("127.0.0.1", "localhost");
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await app?.[Symbol.asyncDispose]();
});

/** A call that needs a preflight, since its header is none of the simple ones. */
const ASKED_FIRST = { accept: "application/json", "x-shop": "1" };
const PREFLIGHT = {
  "access-control-request-method": "GET",
  "access-control-request-headers": "x-shop",
  "sec-fetch-mode": "cors",
  "sec-fetch-dest": "empty",
  "sec-fetch-site": "cross-site",
};

/** What the app learns from a call. */
interface Read {
  readonly status?: number;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The browser's own message when it lets the app read nothing. */
  readonly failure?: string;
}

/** Calls an address from a page of the app, in a browser of its own. */
async function callFromApp(url: string, options: object = {}): Promise<Read> {
  await using context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${appOrigin}/app`);
  const call = `fetch(${JSON.stringify(url)}, ${JSON.stringify(options)})
    .then(async (answer) => ({ status: answer.status, body: await answer.json() }))
    .catch((failure) => ({ failure: String(failure) }))`;
  return (await page.evaluate(call)) as Read;
}

describe("an app on another host", () => {
  test("while there is room a preflight reaches the site, and takes no slot", async () => {
    await using site = await openPlainSite();
    await using gate = await openGate({ origins: [site.address] });
    // The site does not allow the header, so the browser sends only the preflight.
    for (let n = 0; n < 3; n++)
      assert.match(
        (await callFromApp(`${gate.address}/api/seats`, { headers: ASKED_FIRST })).failure ?? "",
        /TypeError/,
      );
    assert.deepEqual(
      site.arrived.map(({ method }) => method),
      ["OPTIONS", "OPTIONS", "OPTIONS"],
    );
    assert.equal(await slotsTaken(gate.control), 0);
  });

  test("in a line a preflight is answered, and takes no place", async () => {
    await using site = await openPlainSite();
    const room = { totalActiveUsers: 1, corsOrigins: [appOrigin] };
    await using gate = await openGate({ origins: [site.address], room });
    await enter(gate.address);
    for (let n = 0; n < 5; n++) {
      const headers = { ...PREFLIGHT, origin: appOrigin };
      const answer = await ask(`${gate.address}/api/seats`, { method: "OPTIONS", headers });
      assert.ok(answer.status === 200 || answer.status === 204, `status ${answer.status}`);
      assert.equal(answer.headers["access-control-allow-origin"], appOrigin);
      assert.match(answer.headers["access-control-allow-headers"] ?? "", /x-shop/);
      assert.equal(answer.headers["set-cookie"], undefined);
    }
    assert.equal((await gate.control.counts()).waiting, 0);
  });

  test("in a line an allowed origin reads the real answer, 429 with JSON; others read nothing", async () => {
    await using site = await openPlainSite();
    const room = { totalActiveUsers: 1, corsOrigins: [appOrigin] };
    await using gate = await openGate({ origins: [site.address], room });
    await enter(gate.address);
    const { status, body, failure } = await callFromApp(`${gate.address}/api/seats`, {
      headers: ASKED_FIRST,
    });
    assert.deepEqual([failure, status], [undefined, 429]);
    assert.equal(typeof body?.status, "string");
    assert.notEqual(body?.status, "open");
    const { waiting } = await gate.control.counts();
    assert.ok(waiting <= 1, `${waiting} wait, where one has called`);
    const closed = { totalActiveUsers: 1, corsOrigins: ["https://other.example"] };
    await using other = await openGate({ origins: [site.address], room: closed });
    await enter(other.address);
    const unread = await callFromApp(`${other.address}/api/seats`, { headers: ASKED_FIRST });
    assert.match(unread.failure ?? "", /TypeError/);
  });

  test("an allowed origin may use our own addresses: the board, and joining the line", async () => {
    await using site = await openPlainSite();
    const room = { totalActiveUsers: 1, corsOrigins: [appOrigin] };
    await using gate = await openGate({ origins: [site.address], room });
    await enter(gate.address);
    const board = await callFromApp(`${gate.address}/.fairgate/main/board`);
    assert.deepEqual([board.failure, board.status, board.body?.room], [undefined, 200, "main"]);
    const joined = await callFromApp(`${gate.address}/.fairgate/main/join`, { method: "POST" });
    assert.deepEqual([joined.failure, joined.body?.status], [undefined, "waiting"]);
    await using elsewhere = await openGate({ origins: [site.address], room: { totalActiveUsers: 1 } });
    await enter(elsewhere.address);
    const refused = await callFromApp(`${elsewhere.address}/.fairgate/main/join`, { method: "POST" });
    assert.match(refused.failure ?? "", /TypeError/);
    assert.equal((await elsewhere.control.counts()).waiting, 0);
  });
});
