/**
 * The demo's shop in a real browser, behind the real line, with a real ledger and the pretend bank: buying with everything that gets in
 * between, what others take while one looks on, and whether everybody can use the pages.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { CATALOGUE } from "../../src/cli/demo/scene.ts";
import type { CatalogueInput } from "../../src/config/catalogue-schema.ts";
import { openBrowser, Person } from "../../src/testing/browser.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { type DemoStage, type DemoStageOptions, openDemoStage } from "../../src/testing/shop/demo-stage.ts";

const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  deviceScaleFactor: 2,
};

let browser: Browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

/** A shop with a single seat. */
const ONE_SEAT: CatalogueInput = {
  ...CATALOGUE,
  products: { ...CATALOGUE.products, front: { ...CATALOGUE.products.front!, stock: 1 } },
};

/** People in front of the shop's pages. */
class Buyer {
  readonly person: Person;

  static async arrive(stage: DemoStage, options: BrowserContextOptions = PHONE): Promise<Buyer> {
    const buyer = new Buyer(await Person.sitDown(browser, stage.address, options));
    await buyer.openShop();
    return buyer;
  }

  private constructor(person: Person) {
    this.person = person;
  }

  get page() {
    return this.person.page;
  }

  async openShop(): Promise<void> {
    await this.person.open();
    await this.page.getByRole("heading", { name: "Balcony" }).waitFor();
  }

  press(name: string | RegExp): Promise<void> {
    return this.page.getByRole("button", { name }).click();
  }

  sees(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).filter({ visible: true }).first().waitFor();
  }

  /** What the shop says of a product. */
  async seesOf(product: string, text: string): Promise<void> {
    const card = this.page
      .getByRole("listitem")
      .filter({ has: this.page.getByRole("heading", { name: product }) });
    await card.getByText(text).waitFor();
  }

  async takes(product: string, count = 1): Promise<void> {
    await this.press(`Add: ${product}`);
    const sheet = this.page.getByRole("dialog");
    await sheet.waitFor();
    for (let more = 1; more < count; more++) await this.press("More: How many");
    await this.press("Add to basket");
    await sheet.waitFor({ state: "hidden" });
  }

  async checksOut(): Promise<void> {
    await this.press("Go to payment");
    await this.page.getByRole("button", { name: /^Pay / }).waitFor();
  }

  async pays(card: string): Promise<void> {
    await this.page.getByLabel(card).check();
    await this.press(/^Pay /);
  }

  /** Console errors, page errors and requests to other hosts, and what axe finds. */
  async faults(): Promise<string[]> {
    return [...this.person.faults, ...(await this.person.violations())];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.person.close();
  }
}

const GOOD = "A card that works";
const DECLINED = "A card that is declined";

async function openStage(options?: DemoStageOptions): Promise<DemoStage> {
  return openDemoStage(options);
}

test("somebody buys, loses the connection, comes back, has a card declined, and pays", async () => {
  await using stage = await openStage();
  await using buyer = await Buyer.arrive(stage);
  await buyer.takes("Balcony", 2);
  await buyer.sees("2 × Balcony");
  await buyer.sees("€120.00");

  await buyer.page.context().setOffline(true);
  await buyer.press("Add: Programme");
  await buyer.sees(/^No connection just now/);
  await buyer.page.context().setOffline(false);
  await buyer.sees("€128.00");
  assert.equal(
    (await stage.desk.figures(Date.now())).total.tickets.reserved,
    3,
    "the repeated call was done once",
  );

  await buyer.openShop();
  await buyer.sees("2 × Balcony");
  await buyer.checksOut();
  await buyer.pays(DECLINED);
  await buyer.sees("The card was declined. Your basket is kept; 2 attempts left.");
  await buyer.person.open("/pay");
  await buyer.sees("2 × Balcony");
  await buyer.pays(GOOD);
  await buyer.page.getByRole("heading", { name: "Thank you!" }).waitFor();

  const [order, ...others] = await stage.desk.orders(0, 10);
  assert.deepEqual([order?.total, order?.tickets.length, others.length], [12_800, 3, 0]);
  await buyer.sees(order!.id);
  assert.deepEqual(
    stage.site.bank.payments.map(({ state }) => state),
    ["failed", "captured"],
  );
  await buyer.openShop();
  await buyer.sees(order!.id);
  assert.deepEqual(
    (await buyer.faults()).filter((fault) => !/ERR_INTERNET_DISCONNECTED/.test(fault)),
    [],
  );
});

test("who closes the tab while the bank thinks finds the order when they come back", async () => {
  await using stage = await openStage();
  await using buyer = await Buyer.arrive(stage);
  await buyer.takes("Standing");
  await buyer.checksOut();
  await buyer.press(/^Pay /);
  await buyer.sees("Asking the bank…");
  await buyer.page.close();
  await eventually("it is sold", async () => (await stage.desk.orders(0, 1)).length === 1);
  await buyer.person.open("/pay");
  await buyer.page.getByRole("heading", { name: "Thank you!" }).waitFor();
});

test("who closes the tab before paying finds the basket on its way to payment, and can give it back", async () => {
  await using stage = await openStage();
  await using buyer = await Buyer.arrive(stage);
  await buyer.takes("Standing");
  await buyer.checksOut();
  await buyer.openShop();
  await buyer.sees("This basket is on its way to payment and stays as it is.");
  assert.equal(await buyer.page.getByRole("button", { name: "Add: Programme" }).isDisabled(), true);
  await buyer.page.getByRole("link", { name: "Continue to payment" }).click();
  await buyer.page.getByRole("button", { name: /^Pay / }).waitFor();
  await buyer.press("Give everything back");
  await buyer.sees("Nothing was paid for, and what you had is back on sale.");
  assert.deepEqual((await stage.desk.figures(Date.now())).total.tickets, {
    reserved: 0,
    pending: 0,
    sold: 0,
  });
  await buyer.press("Shop again");
  await buyer.sees("Nothing in it yet.");
  await buyer.takes("Standing");
  await buyer.sees("€35.00");
});

test("what others take and give back is seen live, and the waiting list puts it into the basket", async () => {
  await using stage = await openStage({ catalogue: ONE_SEAT });
  await using first = await Buyer.arrive(stage);
  await using second = await Buyer.arrive(stage);
  await second.seesOf("Front row", "Only 1 left");
  await first.takes("Front row");
  await second.seesOf("Front row", "All in baskets just now");
  await second.press("Waiting list: Front row");
  await second.sees(/^You are on the waiting list: you are the first/);
  await first.press("Remove one: Front row");
  await second.openShop();
  await second.sees(/^yours for [12]:\d\d$/);
  await first.seesOf("Front row", "All in baskets just now");
  await second.checksOut();
  await first.seesOf("Front row", "All about to be paid for");
  await second.pays(GOOD);
  await second.page.getByRole("heading", { name: "Thank you!" }).waitFor();
  await first.seesOf("Front row", "Sold out");
  assert.deepEqual(await first.faults(), []);
});

test("a bundle is whole before it can be taken, and comes with what was chosen", async () => {
  await using stage = await openStage();
  await using buyer = await Buyer.arrive(stage);
  await buyer.press("Add: An evening for two");
  await buyer.page.getByRole("dialog").waitFor();
  const add = buyer.page.getByRole("button", { name: "Add to basket" });
  assert.equal(await add.isDisabled(), true);
  await buyer.press("More: Front row");
  assert.equal(await add.isDisabled(), true);
  await buyer.press("More: Balcony");
  assert.equal(await buyer.page.getByRole("button", { name: "More: Standing" }).isDisabled(), true);
  await buyer.sees("€173.00");
  await add.click();
  await buyer.sees("with 2 × Drink in the interval, Programme, Front row, Balcony");
});

test("an empty shop says what is sold out and loses nobody", async () => {
  const gone = Object.entries(CATALOGUE.products).map(([id, product]) => [id, { ...product, stock: 0 }]);
  await using stage = await openStage({ catalogue: { ...CATALOGUE, products: Object.fromEntries(gone) } });
  await using buyer = await Buyer.arrive(stage);
  for (const product of ["Front row", "Balcony", "Standing", "An evening for two", "Tour shirt"])
    await buyer.seesOf(product, "Sold out");
  assert.deepEqual(await buyer.faults(), []);
});

describe("everybody can use the pages", { concurrency: 2 }, () => {
  for (const colorScheme of ["light", "dark"] as const)
    for (const [size, viewport] of Object.entries({
      "small phone": { width: 320, height: 640 },
      desk: { width: 1280, height: 900 },
    }))
      test(`${colorScheme}, ${size}: axe finds nothing, and nothing needs scrolling sideways`, async () => {
        await using stage = await openStage();
        await using buyer = await Buyer.arrive(stage, { viewport, colorScheme });
        const look = async (name: string) => {
          assert.deepEqual(await buyer.faults(), [], name);
          const wide = await buyer.page.evaluate("document.documentElement.scrollWidth - innerWidth");
          assert.ok((wide as number) <= 0, `${name}: ${wide} pixels too wide`);
          await buyer.person.screenshot(`shop-${name}-${colorScheme}-${viewport.width}`);
        };
        await look("event");
        await buyer.press("Add: An evening for two");
        await buyer.page.getByRole("dialog").waitFor();
        await look("sheet");
        for (const place of ["Front row", "Balcony"]) await buyer.press(`More: ${place}`);
        await buyer.press("Add to basket");
        await buyer.sees(/^with 2 × Drink/);
        await look("basket");
        await buyer.checksOut();
        await look("payment");
        await buyer.pays(DECLINED);
        await buyer.sees(/^The card was declined/);
        await look("declined");
        await buyer.pays(GOOD);
        await buyer.page.getByRole("heading", { name: "Thank you!" }).waitFor();
        await look("paid");
      });
});

test("all of it works with the keyboard alone", async () => {
  await using stage = await openStage();
  await using buyer = await Buyer.arrive(stage, { viewport: { width: 1280, height: 900 } });
  const { keyboard } = buyer.page;
  const focus = (name: string | RegExp) => buyer.page.getByRole("button", { name }).focus();
  await focus("Add: Standing");
  await keyboard.press("Enter");
  await buyer.page.getByRole("dialog").waitFor();
  await focus("More: How many");
  await keyboard.press("Enter");
  const focused = await buyer.page.evaluate("document.activeElement.getAttribute('aria-label')");
  assert.equal(focused, "More: How many", "the focus stays where it was");
  await keyboard.press("Escape");
  await buyer.page.getByRole("dialog").waitFor({ state: "hidden" });
  assert.equal(
    await buyer.page.evaluate("document.activeElement.getAttribute('aria-label')"),
    "Add: Standing",
  );
});
