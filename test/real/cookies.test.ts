/** A person in a browser is one visitor, whatever their page loads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { openGate, watchSlots } from "./gate.ts";
import { openPlainSite } from "./plain-site.ts";

test("a page view with cookies takes exactly one slot", async () => {
  await using site = await openPlainSite();
  await using gate = await openGate({ origins: [site.address] });
  await using browser = await openBrowser();
  const slots = watchSlots(gate.control);
  const person = await Person.sitDown(browser, gate.address);
  for (let views = 0; views < 2; views++) {
    await person.open();
    await person.page.getByText("42 seats left").waitFor();
  }
  assert.equal(await slots.most(), 1);
  assert.ok(site.arrived.length > 20, `${site.arrived.length} requests`);
  assert.deepEqual(person.faults, []);
});
