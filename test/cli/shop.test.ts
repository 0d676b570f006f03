/** `fairgate shop …` against a real process with a real ledger, while visitors buy. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fairgate, ownFolder, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessShopper } from "../../src/testing/shop/process-shopper.ts";

const CATALOGUE = `currency: EUR
products:
  seat:
    name: Seat
    price: 4500
    stock: 10
    limitPerCustomer: 4
policies:
  shoppingWindow: 10m
`;

async function open(shops: object = { tickets: {} }) {
  const origin = await TestOrigin.open();
  const folder = ownFolder({
    "catalogue.yaml": CATALOGUE,
    "fairgate.yaml": JSON.stringify({
      data: "./kept",
      origin: { addresses: [origin.address] },
      shops,
      rooms: { main: { totalActiveUsers: 100, shop: "tickets" } },
    }),
  });
  const here = { cwd: folder.path, environment: { FAIRGATE_CONTROL_TOKEN: undefined } };
  const run = await startRun([], here).catch(async (cause) => {
    await origin[Symbol.asyncDispose]();
    throw cause;
  });
  return {
    run,
    folder,
    shop: (...args: string[]) => fairgate(["shop", ...args], here),
    async [Symbol.asyncDispose]() {
      await run[Symbol.asyncDispose]();
      await origin[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

test("a shop is set up, watched, changed and counted from a shell while visitors buy", async () => {
  await using stage = await open();
  const { run, shop, folder } = stage;
  const empty = await shop("status");
  assert.match(empty.out, /^shop tickets has no catalogue yet\n/);
  const set = await shop("set", "catalogue.yaml");
  assert.deepEqual([set.code, set.out], [0, "tickets has catalogue 1 now.\n"], set.err);
  const buyer = await ProcessShopper.arrive(run.address);
  assert.equal(await buyer.buy("seat", 4), true);

  const [status, json, orders, verify, catalogue, fewer, unknown, noShop] = await Promise.all([
    shop("status"),
    shop("status", "--json"),
    shop("orders"),
    shop("verify"),
    shop("catalogue"),
    shop("adjust", "seat", "-7"),
    shop("adjust", "chair", "1"),
    shop("close", "--shop", "other"),
  ]);
  assert.match(status.out, /^shop tickets sells, catalogue 1\n.*\n {2}tickets .* 4 sold\n/);
  assert.match(status.out, /\nseat +10 +6 +0 +0 +4\n/);
  assert.equal(JSON.parse(json.out).shops[0].stock[0].counts.sold, 4);
  assert.match(
    orders.out,
    /^ +1 {2}\S+ \S+ {2}[0-9a-f]{24} {2}180\.00 EUR {2}4 tickets {2}visit:[0-9a-f]{32}\n$/,
  );
  assert.match(verify.out, /^All is right: 1 products, recounted from \d+ entries\.\n$/);
  assert.equal(catalogue.out, CATALOGUE);
  assert.deepEqual([fewer.code, unknown.code, noShop.code], [1, 2, 2]);
  assert.match(fewer.err, /^That would leave less than is held and sold\.\n$/);
  assert.match(noShop.err, /^There is no such shop\. There are: tickets\.\n$/);

  assert.match((await shop("adjust", "seat", "+5")).out, /^"seat" has a stock of 15 now\.\n$/);
  assert.match((await shop("close")).out, /^tickets is closed/);
  assert.equal(
    (await (await ProcessShopper.arrive(run.address)).shop("POST holds", { product: "seat" })).words.reason,
    "notOpen",
  );
  assert.match((await shop("open")).out, /^tickets sells again/);
  const id = /[0-9a-f]{24}/.exec(orders.out)![0];
  assert.match((await shop("cancel", id)).out, /^4 given back \(cancelled\)\.\n$/);
  assert.match((await shop("cancel", id)).out, /^Nothing was left to give back\.\n$/);

  folder.write("wrong.yaml", CATALOGUE.replace("stock: 10", "stock: -10").replace("EUR", "XXL"));
  const wrong = await shop("set", "wrong.yaml");
  assert.deepEqual([wrong.code, wrong.err.split("\n").length], [2, 3], wrong.err);
  assert.match(wrong.err, /products\.seat\.stock is -10/);
  const missing = await shop("set", "nothing.yaml");
  assert.deepEqual([missing.code, /cannot be read/.test(missing.err)], [2, true]);

  const exported = await shop("export", "--format", "json", "--out", "orders.jsonl");
  assert.equal(exported.code, 0, exported.err);
  const lines = readFileSync(join(folder.path, "orders.jsonl"), "utf8").trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { number: number }).number),
    [1],
  );
  const csv = await shop("export");
  assert.equal(csv.out.trimEnd().split("\r\n").length, 1 + 4);
  assert.ok(existsSync(join(folder.path, "kept")));
});

test("with several shops one is named", async () => {
  await using stage = await open({ tickets: {}, extras: {} });
  const [both, which] = await Promise.all([stage.shop("status"), stage.shop("close")]);
  const one = await stage.shop("set", "catalogue.yaml", "--shop", "extras", "--json");
  assert.match(both.out, /^shop tickets has no catalogue yet[\s\S]*\nshop extras has no catalogue yet/);
  assert.deepEqual(
    [which.code, which.err],
    [2, "There are 2 shops: tickets, extras. Name one with --shop.\n"],
  );
  assert.deepEqual([one.code, JSON.parse(one.out).version], [0, 1], one.err);
});
