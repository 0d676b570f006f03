/** A chat in socket.io behind the gateway: its connections work, and end with the visit they belong to. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContext } from "playwright-core";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import type { Run } from "../../src/testing/cli/fairgate.ts";
import { type ChatSite, openChatSite } from "./chat-site.ts";
import { openGate } from "./gate.ts";

let browser: Browser;
let chat: ChatSite;
before(async () => {
  chat = await openChatSite();
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await chat?.[Symbol.asyncDispose]();
});

/** How a visit may end, and who ends it. */
const ENDS: Readonly<Record<string, (person: Person, gate: Run, who: string) => Promise<void>>> = {
  "the visitor leaves": (person) => person.leaveSite(),
  "the operator ends it": async (_person, gate, who) => {
    const id = (await chat.state()).visitors[who]?.id;
    const { status } = await gate.control.ask("DELETE", `/rooms/main/sessions/${id}`);
    assert.equal(status, 204);
  },
  "the site ends it": async (person, gate) => {
    const answer = await person.page.request.get(`${gate.address}/goodbye`);
    assert.equal(answer.status(), 200);
  },
};

describe("a chat in socket.io", () => {
  test("it connects by long polling and goes on with a WebSocket", async () => {
    await using gate = await openGate({ origins: [chat.address] });
    await using context = await browser.newContext();
    const person = await openChat(context, gate, "somebody");
    await person.page.evaluate("chat.emit('say', 'hello')");
    await person.page.locator("#heard li", { hasText: "hello" }).waitFor();
    assert.deepEqual(await person.page.evaluate("failures"), []);
    assert.deepEqual(person.faults, []);
  });

  for (const [how, end] of Object.entries(ENDS))
    test(`a visit's sockets are closed, at the site too, when ${how}`, async () => {
      const room = { connectionGrace: "1s", enabledOriginCommands: ["revoke"] };
      await using gate = await openGate({ origins: [chat.address], room });
      await using context = await browser.newContext();
      const who = how.replaceAll(" ", "-");
      const person = await openChat(context, gate, who);
      assert.equal((await chat.state()).visitors[who]?.sockets, 1);
      await end(person, gate, who);
      await person.page.getByText("not connected").waitFor();
      await eventually("the site's side is closed", async () => !(who in (await chat.state()).visitors));
      await eventually("the slot is free", async () => (await gate.control.counts()).onSite === 0);
    });
});

/** A visitor in the chat, connected by a WebSocket. Once that ends, they do not reconnect by themselves. */
async function openChat(context: BrowserContext, gate: Run, who: string): Promise<Person> {
  const person = await Person.with(context, gate.address);
  await person.open(`/?who=${who}&again=no`);
  await person.page.getByText("connected by websocket").waitFor();
  return person;
}
