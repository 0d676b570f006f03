/** PHP behind an nginx behind the gateway, in a browser: forms, a session of its own, uploads and a page that is streamed. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import type { Run } from "../../src/testing/cli/fairgate.ts";
import { ask } from "../../src/visitor/ask.ts";
import { openGate, slotsTaken } from "./gate.ts";
import { BYTES, type NginxSites, openNginxSites } from "./nginx-sites.ts";
import { enter } from "./program.ts";

let sites: NginxSites;
let gate: Run;
let browser: Browser;
before(async () => {
  sites = await openNginxSites();
  gate = await openGate({ origins: [sites.php] });
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await gate?.[Symbol.asyncDispose]();
  await sites?.[Symbol.asyncDispose]();
});

describe("a site in PHP", () => {
  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "with scripts" : "without";
    test(`a form is sent, redirects, and its session remembers, ${how}`, async () => {
      await using context = await browser.newContext({ javaScriptEnabled });
      const person = await Person.with(context, gate.address);
      const before = await slotsTaken(gate.control);
      await person.open("/guest-book.php");
      for (const name of ["Ada", "Grace & Hopper"]) {
        await person.page.getByLabel("Name").fill(name);
        await person.page.getByRole("button", { name: "Sign" }).click();
        await person.page.getByText(`Signed by ${name}`).waitFor();
      }
      assert.equal(await person.page.getByRole("listitem").count(), 2);
      assert.equal((await slotsTaken(gate.control)) - before, 1);
      assert.deepEqual(person.faults, []);
    });
  }

  test("a file of a form and a whole body arrive as they were sent", async () => {
    const content = Buffer.concat(Array.from({ length: 12 }, () => BYTES));
    const sha256 = createHash("sha256").update(content).digest("hex");
    await using context = await browser.newContext();
    const person = await Person.with(context, gate.address);
    await person.open("/upload.php");
    const file = { name: "noise.bin", mimeType: "application/octet-stream", buffer: content };
    await person.page.locator("input[type=file]").setInputFiles(file);
    await person.page.getByRole("button", { name: "Send" }).click();
    await person.page.getByText(JSON.stringify({ name: "noise.bin", sha256 })).waitFor();
    const cookie = await enter(`${gate.address}/guest-book.php`);
    const headers = { cookie, "content-type": "application/octet-stream", "transfer-encoding": "chunked" };
    const answer = await ask(`${gate.address}/upload.php`, { method: "POST", headers, body: content });
    assert.deepEqual(JSON.parse(answer.body.toString()), { name: null, sha256 });
  });

  test("a streamed page is shown while it is being made", async () => {
    await using context = await browser.newContext();
    const person = await Person.with(context, gate.address);
    await person.open("/guest-book.php");
    // The page is incomplete until the test lets it finish.
    const isLoaded = person.page.goto(`${gate.address}/stream.php`);
    await person.page.getByText("The first half").waitFor();
    assert.equal(await person.page.getByText("The second half").count(), 0);
    sites.finishStream();
    await isLoaded;
    await person.page.getByText("The second half").waitFor();
  });
});
