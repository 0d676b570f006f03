/** What docs/payments.md tells readers to write is taken by the program. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import { OTHER_CHECKS } from "../../src/assembly/other-checks.ts";
import { providerOf } from "../../src/assembly/shop-provider.ts";
import { settingsFrom } from "../../src/config/load.ts";
import type { Settings } from "../../src/config/schema.ts";
import { signWebhook } from "../../src/shop/baskets/standard-webhooks.ts";
import { SECRET } from "../../src/testing/cli/fairgate.ts";
import { blocksOf } from "./blocks.ts";

const DOCUMENT = readFileSync(new URL("../../docs/payments.md", import.meta.url), "utf8");
const KEY = Buffer.from("a key that nobody else would have chosen", "utf8").subarray(0, 32);
const WHSEC = `whsec_${KEY.toString("base64")}`;

function blocks(language: string): string[] {
  return blocksOf(DOCUMENT).flatMap((block) => (block.language === language ? [block.text] : []));
}

/** Settings with these shops, as a reader has them. */
function settingsWith(text: string): Settings {
  const input = {
    ...(parse(text) as object),
    secret: SECRET,
    data: "./kept",
    origin: { addresses: ["http://127.0.0.1:3000"] },
    rooms: { main: { totalActiveUsers: 10, shop: "tickets" } },
  };
  const names = [...text.matchAll(/\b(SHOP_\w+)/g)].map(([name]) => name);
  const environment = Object.fromEntries(
    names.map((name) => [name, name.endsWith("_KEY") ? "sk_test_51Nq8bXcVfGhJkLmPoIuYtReWqAsDzXcV" : WHSEC]),
  );
  const result = settingsFrom(input, { environment, readFile: () => "", ...OTHER_CHECKS });
  assert.ok(result.ok, JSON.stringify(result));
  return result.settings;
}

test("every example of settings is taken", () => {
  const all = blocks("yaml").map(settingsWith);
  assert.deepEqual(
    all.map((settings) => providerOf("tickets", settings)?.name ?? null),
    ["stripe", "pretend", null],
  );
});

test("the example of a callback is read as an event", () => {
  const settings = settingsWith(blocks("yaml")[1]!);
  const [body = ""] = blocks("json").map((text) => text.replace('"…"', '"attempt_1"'));
  const now = Date.UTC(2026, 11, 1, 10);
  const headers = signWebhook({ id: "evt_1", at: now, body }, [KEY]);
  const provider = providerOf("tickets", settings)!;
  const reading = provider.read({ header: (name) => headers[name], body: Buffer.from(body), now });
  assert.deepEqual(reading, {
    kind: "event",
    event: {
      ...{ id: "evt_1", attempt: "attempt_1", kind: "authorised" },
      payment: { id: "your-own-name-for-it", amount: 9_500, currency: "EUR" },
    },
  });
});
