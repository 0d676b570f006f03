/** WebSockets and visits: a WebSocket in use keeps its visit, and ends with it. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { openChatSite } from "./chat-site.ts";
import { openGate } from "./gate.ts";

const SESSION_MS = 10_000;
const SAY_EVERY_MS = 1_000;
const VISITORS = 6;

let browser: Browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

describe("long connections", { concurrency: 2 }, () => {
  test("a chat that is longer than the session keeps its visit, and its next page is the site", async () => {
    await using chat = await openChatSite();
    const room = { totalActiveUsers: 1, sessionDuration: `${SESSION_MS}ms`, connectionGrace: "1s" };
    await using gate = await openGate({ origins: [chat.address], room });
    await using talker = await Person.sitDown(browser, gate.address);
    await talker.open("/?who=talker");
    await talker.page.getByText("connected by websocket").waitFor();
    await using next = await Person.sitDown(browser, gate.address);
    await next.open("/?who=next");
    await next.seesAhead(0);
    const endAt = Date.now() + 2.5 * SESSION_MS;
    for (let n = 0; Date.now() < endAt; n++) {
      await talker.page.evaluate(`chat.emit("say", "word ${n}.")`);
      await talker.page.getByText(`word ${n}.`).waitFor();
      await pause(SAY_EVERY_MS);
    }
    await talker.page.goto(`${gate.address}/?who=talker`);
    await talker.page.getByRole("heading").first().waitFor();
    assert.equal(await talker.page.title(), "The chat");
    assert.deepEqual((await chat.state()).seen, ["talker"]);
    await talker.leaveSite();
    await next.isInside("The chat");
  });

  test("with room for two and short sessions never more than two visitors' sockets are open at the site", async () => {
    await using chat = await openChatSite();
    const room = { totalActiveUsers: 2, sessionDuration: "2s", connectionGrace: "3s" };
    await using gate = await openGate({ origins: [chat.address], room });
    // They are silent once connected, and reconnect by themselves when they are cut off.
    await using seats = new AsyncDisposableStack();
    const sitDown = async () => seats.use(await Person.sitDown(browser, gate.address));
    const people = await Promise.all(Array.from({ length: VISITORS }, sitDown));
    await Promise.all(people.map((person, n) => person.open(`/?who=visitor-${n}`)));
    await eventually("everybody was in the chat", async () => (await chat.state()).seen.length === VISITORS);
    const { mostAtOnce } = await chat.state();
    assert.ok(mostAtOnce <= 2, `${mostAtOnce} visitors had sockets at once`);
  });
});
