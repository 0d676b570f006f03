import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { browserClient } from "../../../scripts/browser-client.ts";
import { nodeWorld } from "../../node.ts";
import { PretendProvider } from "../../shop/baskets/providers/pretend.ts";
import type { WebhookKeys } from "../../shop/baskets/standard-webhooks.ts";
import { until } from "../../testing/until.ts";
import { openShop } from "./shop.ts";

const SITE = join(import.meta.dirname, "site");
const KEYS: WebhookKeys = [Buffer.alloc(32, 1)];
const PAYMENT = { attempt: "attempt_1", amount: 9_500, currency: "EUR" };

async function open(t: TestContext) {
  const world = nodeWorld({ level: "silent" });
  // Callbacks come back to the shop itself, which takes none.
  const shop = await openShop({ world, keys: KEYS, callbackTo: () => `${shop.address}/callback` });
  t.after(() => shop.close());
  const provider = new PretendProvider({ url: shop.address, keys: KEYS });
  return { shop, provider, world };
}

const pay = (address: string, card: object | string) =>
  fetch(`${address}/pay/card`, {
    method: "POST",
    body: typeof card === "string" ? card : JSON.stringify(card),
  });

test("the client that the shop serves is made from the source (npm run generate)", () => {
  assert.equal(readFileSync(join(SITE, "fairgate-client.js"), "utf8"), browserClient());
});

test("every file of the site is served under both rooms, with its type and a policy that allows nothing inline", async (t) => {
  const { shop } = await open(t);
  for (const name of globSync("*.{js,css}", { cwd: SITE }))
    for (const folder of ["site", "pay"]) {
      const answer = await fetch(`${shop.address}/${folder}/${name}`);
      assert.equal(answer.status, 200);
      assert.equal(await answer.text(), readFileSync(join(SITE, name), "utf8"), `${folder}/${name}`);
      assert.match(answer.headers.get("content-type")!, name.endsWith("js") ? /javascript/ : /css/);
    }
  for (const [path, words] of [
    ["/", "The Lamplighters"],
    ["/?again", "The Lamplighters"],
    ["/anything", "The Lamplighters"],
    ["/pay", "<title>Payment"],
  ] as const) {
    const answer = await fetch(shop.address + path);
    const page = await answer.text();
    assert.ok(page.includes(words), path);
    assert.doesNotMatch(page, /\{\{|<style|\son\w+=|style=|<script(?! type="module" src=)/);
    assert.match(answer.headers.get("content-security-policy")!, /^default-src 'self';/);
  }
});

test("a visitor is told how long they stood in line", async (t) => {
  const { shop } = await open(t);
  const at = (joined: string, admitted: string) =>
    fetch(shop.address, { headers: { "fairgate-joined-at": joined, "fairgate-admitted-at": admitted } }).then(
      (answer) => answer.text(),
    );
  assert.match(
    await at("2026-06-01T10:00:00Z", "2026-06-01T10:00:42Z"),
    /You waited 42 seconds\. Thank you\./,
  );
  assert.match(await at("2026-06-01T10:00:00Z", "2026-06-01T10:00:00Z"), /There was no line\./);
  assert.doesNotMatch(await at("<b>", "<b>"), /waited|<b>/);
});

test("a good card is authorised and a bad one declined, and the shop may capture what is authorised", async (t) => {
  const { shop, provider, world } = await open(t);
  const good = await pay(shop.address, { ...PAYMENT, card: "good" });
  assert.deepEqual(await good.json(), { isTaken: true });
  const bad = await pay(shop.address, { ...PAYMENT, attempt: "attempt_2", card: "declined" });
  assert.deepEqual(await bad.json(), { isTaken: false });
  const [payment] = shop.bank.payments;
  const ask = { action: "capture", attempt: "attempt_1", payment: payment!.id, round: 0 } as const;
  const { url, headers, body } = provider.request(ask, world.clock.now());
  assert.equal((await fetch(url, { method: "POST", headers, body })).status, 200);
  assert.equal((await fetch(url, { method: "POST", body })).status, 401, "it is not signed");
  await until(() => shop.bank.payments.map(({ state }) => state).join() === "captured,failed");
});

test("what no form of ours would send is refused", async (t) => {
  const { shop } = await open(t);
  for (const card of ["", "{", "[]", "null", "3", { ...PAYMENT, amount: "1" }, { ...PAYMENT, attempt: 1 }])
    assert.equal((await pay(shop.address, card)).status, 422, JSON.stringify(card));
  assert.equal((await pay(shop.address, "x".repeat(5_000))).status, 413);
  assert.equal((await fetch(`${shop.address}/elsewhere`, { method: "POST" })).status, 401);
  assert.deepEqual(shop.bank.payments, []);
});
