/** A chat in socket.io on two addresses that do not know each other: each visitor's requests go to one of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Browser } from "playwright-core";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import type { Run } from "../../src/testing/cli/fairgate.ts";
import { openChatSite } from "./chat-site.ts";
import { openGate } from "./gate.ts";

const VISITORS = 20;
/** Browsers at the same time, so that requests of several overlap. */
const AT_ONCE = 5;

test("with `sticky: visitor` 20 of 20 connect, by long polling and then a WebSocket, on both addresses", async () => {
  await using left = await openChatSite("left");
  await using right = await openChatSite("right");
  await using gate = await openGate({
    origins: [left.address, right.address],
    origin: { sticky: "visitor" },
  });
  await using browser = await openBrowser();
  const connections: Connection[] = [];
  for (let first = 0; first < VISITORS; first += AT_ONCE) {
    const several = Array.from({ length: AT_ONCE }, (_, n) => connect(browser, gate, `visitor-${first + n}`));
    connections.push(...(await Promise.all(several)));
  }
  const connected = connections.filter(({ failures }) => failures.length === 0);
  assert.equal(connected.length, VISITORS, JSON.stringify(connections.flatMap(({ failures }) => failures)));
  assert.deepEqual([...new Set(connections.map(({ origin }) => origin))].sort(), ["left", "right"]);
});

interface Connection {
  /** The name of the site that answered. */
  readonly origin: string;
  readonly failures: readonly string[];
}

/** Opens the chat in a browser of its own, and waits for the WebSocket or the first failure. */
async function connect(browser: Browser, gate: Run, who: string): Promise<Connection> {
  await using context = await browser.newContext();
  const person = await Person.with(context, gate.address);
  await person.open(`/?who=${who}&again=no`);
  await person.page.waitForFunction(
    "failures.length > 0 || document.getElementById('state').textContent === 'connected by websocket'",
  );
  const origin = await person.page.locator("#origin").textContent();
  return { origin: origin ?? "", failures: (await person.page.evaluate("failures")) as string[] };
}
