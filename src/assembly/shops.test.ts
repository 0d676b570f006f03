import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import type { Settings, SettingsInput } from "../config/schema.ts";
import { MemoryEngine } from "../engines/memory/memory-engine.ts";
import type { Shopper } from "../shop/rules/commands.ts";
import { handWorld } from "../sim/hand-world.ts";
import { eventually } from "../testing/cli/eventually.ts";
import { STAGE_SECRET } from "../testing/gateway/stage.ts";
import { realWorld } from "../testing/real-world.ts";
import { deskOfBook } from "../testing/shop/desk-of-book.ts";
import { type Fairgate, type FairgateOptions, openFairgate } from "./open-fairgate.ts";
import { OTHER_CHECKS } from "./other-checks.ts";
import { Shops } from "./shops.ts";

const CATALOGUE = "currency: EUR\nproducts:\n  seat: {stock: 10, price: 100}\n";
const SHOPPER: Shopper = {
  ...{ visitor: "ab".repeat(16), customer: "anna", room: "main", lane: "everybody" },
  admittedAt: Date.now(),
};

function settings(data: string, change: Partial<SettingsInput> = {}, catalogue = CATALOGUE): Settings {
  const result = settingsFrom(
    {
      secret: STAGE_SECRET,
      data,
      origin: { addresses: ["http://127.0.0.1:1"] },
      shops: { tickets: { catalogueFile: "catalogue.yaml" } },
      rooms: { main: { totalActiveUsers: 1, shop: "tickets" } },
      ...change,
    },
    { environment: {}, readFile: () => catalogue, ...OTHER_CHECKS },
  );
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.settings;
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "fairgate-shops-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function withFairgate(
  given: Settings,
  work: (fairgate: Fairgate) => Promise<void>,
  options: FairgateOptions = {},
): Promise<void> {
  const fairgate = await openFairgate(given, realWorld(), options);
  try {
    await work(fairgate);
  } finally {
    await fairgate.close();
  }
}

test("a shop begins with the catalogue of its file, and keeps what was made of it", async (t) => {
  const data = folder(t);
  await withFairgate(settings(data), async ({ desk }) => {
    const shop = desk.shop("tickets")!;
    assert.equal((await shop.catalogue())?.version, 1);
    await shop.adjust("seat", { delta: 5, shortfall: "refuse", key: null });
  });
  const other = CATALOGUE.replace("stock: 10", "stock: 99");
  await withFairgate(settings(data, {}, other), async ({ desk }) => {
    const shop = desk.shop("tickets")!;
    const [seat] = await shop.stock();
    assert.deepEqual([(await shop.catalogue())?.version, seat?.stock], [1, 15]);
    assert.deepEqual((await shop.verify()).kind, "clean");
  });
});

test("with an engine of the program's own, shops still have their directory", async (t) => {
  const data = folder(t);
  const world = realWorld();
  const engine = new MemoryEngine(world);
  for (const version of [1, 2])
    await withFairgate(
      settings(data),
      async ({ desk }) => {
        const shop = desk.shop("tickets")!;
        const shown = await shop.catalogue();
        assert.equal(shown?.version, version);
        await shop.setCatalogue(shown!.catalogue, { ifVersion: null, shortfall: "refuse" });
      },
      { engine },
    );
  await engine.close();
});

test("a reload opens the shops that are new in it, and those before go on", async (t) => {
  const data = folder(t);
  const both = {
    shops: { tickets: { catalogueFile: "catalogue.yaml" }, extras: {} },
    rooms: {
      main: { totalActiveUsers: 1, shop: "tickets" },
      bar: { path: "/bar", totalActiveUsers: 1, shop: "extras" },
    },
  };
  await withFairgate(settings(data), async ({ desk, reload }) => {
    assert.equal(desk.shop("extras"), undefined);
    await reload(settings(data, both));
    assert.deepEqual(desk.shops(), ["tickets", "extras"]);
    assert.equal(await desk.shop("extras")!.catalogue(), null);
    assert.equal((await desk.shop("tickets")!.catalogue())?.version, 1);
    await reload(settings(data));
    assert.equal(desk.shop("extras"), undefined);
  });
});

test("a ledger that does not answer stops nothing else, and is asked again", async () => {
  const world = handWorld();
  const engine = new MemoryEngine(world);
  const ledger = deskOfBook();
  ledger.broken = new Error("a record is damaged");
  const fairgate = await openFairgate(settings("./none"), world, { engine, deskOf: () => ledger });
  const shop = fairgate.desk.shop("tickets")!;
  await assert.rejects(async () => shop.figures(), /a record is damaged/);
  assert.ok(world.logged.some(({ message }) => message === "a shop's ledger does not answer"));
  ledger.broken = null;
  assert.equal((await shop.figures()).isClosed, false);
  const set = await shop.setCatalogue(
    { currency: "EUR", products: { seat: { stock: 1 } } },
    {
      ifVersion: 0,
      shortfall: "refuse",
    },
  );
  assert.equal(set.kind, "set");
  const now = world.clock.now();
  const shopper = { ...SHOPPER, admittedAt: now };
  const held = await ledger.hold(shopper, { product: "seat", count: 1, chosen: [] }, now);
  assert.equal(held.kind, "basket");
  await fairgate.close();
  await engine.close();
});

test("a shop that another gateway changes while it is opened is read again", async () => {
  const world = handWorld();
  const book = deskOfBook();
  const given = settings("/nowhere");
  const shops: Shops = new Shops({
    world,
    deskOf: () => {
      // Heard before anybody could be told.
      shops.learn("tickets");
      return book;
    },
    endVisit: () => {},
    rooms: () => given.rooms,
  });
  await shops.follow(given);
  await eventually("it is read again", () => (book.calls.figures ?? 0) > 1);
  shops.close();
});
