/** An nginx that redirects to what it believes to be its own name and port: visitors stay with the gateway. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { ask } from "../../src/visitor/ask.ts";
import { openGate } from "./gate.ts";
import { openNginxSites } from "./nginx-sites.ts";
import { enter } from "./program.ts";

test("with `hostHeader: origin` a redirect to the site's own address leads back through the gateway", async () => {
  await using sites = await openNginxSites();
  await using gate = await openGate({ origins: [sites.files], origin: { hostHeader: "origin" } });
  const direct = await ask(`${sites.files}/folder`);
  assert.equal(direct.headers.location, `${sites.files}/folder/`, "nginx names itself");
  const cookie = await enter(`${gate.address}/words.txt`);
  const { status, headers } = await ask(`${gate.address}/folder`, { headers: { cookie } });
  assert.equal(status, 301);
  assert.equal(new URL(headers.location ?? "", gate.address).href, `${gate.address}/folder/`);
  const elsewhere = await ask(`${gate.address}/elsewhere`, { headers: { cookie } });
  assert.equal(elsewhere.headers.location, "https://shop.example/words.txt?a=1", "others' are left alone");
  await using browser = await openBrowser();
  const person = await Person.sitDown(browser, gate.address);
  await person.open("/folder");
  await person.page.getByText("A folder").waitFor();
  assert.equal(person.page.url(), `${gate.address}/folder/`);
});
