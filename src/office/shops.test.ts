import assert from "node:assert/strict";
import { test } from "node:test";
import type { CatalogueInput } from "../config/catalogue-schema.ts";
import type { ShopDesk } from "../shop/api/shop-desk.ts";
import { readMetrics } from "../testing/office/prometheus-text.ts";
import { read, type Scene, type SceneOptions, scene } from "../testing/office/scene.ts";
import { proves } from "../testing/requirements/proves.ts";
import { type BookDesk, deskOfBook } from "../testing/shop/desk-of-book.ts";

const CATALOGUE: CatalogueInput = {
  currency: "EUR",
  products: {
    seat: { name: "Seat", price: 4_500, stock: 10, saleStart: "2025-01-01T10:00:00Z", oversell: "10%" },
    pair: { stock: null, parts: { seat: 2 } },
  },
  pools: { hall: { stock: 8, products: { seat: 1 } } },
  policies: { shoppingWindow: "10m" },
};
const FIRST = { "if-none-match": "*" };
const SHOPPER = { visitor: "ab".repeat(16), customer: "anna", room: "main", lane: "everybody" };

async function shopScene(options: SceneOptions = {}): Promise<Scene & { readonly ledger: BookDesk }> {
  const ledger = deskOfBook();
  const stage = await scene({
    rooms: { main: { totalActiveUsers: 2, shop: "tickets" }, pay: { path: "/pay", totalActiveUsers: 1 } },
    settings: { data: "./none", shops: { tickets: {} } },
    deskOf: () => ledger as ShopDesk,
    ...options,
  });
  return { ...stage, ledger };
}

const put = (stage: Scene, json: unknown, headers: Record<string, string> = FIRST, query = "") =>
  stage.ask(`/shops/tickets${query}`, { method: "PUT", json, headers });

/** Somebody buys so many seats. */
async function buy(stage: Awaited<ReturnType<typeof shopScene>>, count: number, visitor = SHOPPER.visitor) {
  const now = stage.world.clock.now();
  const shopper = { ...SHOPPER, visitor, admittedAt: now };
  const held = await stage.ledger.hold(shopper, { product: "seat", count, chosen: [] }, now);
  assert.equal(held.kind, "basket");
  await stage.ledger.finish(shopper, now);
  const attempt = `attempt of ${visitor}`;
  await stage.ledger.pay(shopper, { attempt }, now);
  const secrets = Array.from({ length: count }, (_, at) => `secret ${at}`);
  const event = { id: `event of ${visitor}`, attempt, kind: "succeeded" } as const;
  await stage.ledger.payment(event, { orderId: `order-${visitor.slice(0, 2)}`, secrets }, now);
}

test("a catalogue is set whole, and shown as it can be sent back", async () => {
  const stage = await shopScene();
  assert.equal((await stage.ask("/shops/tickets")).status, 404);
  const first = await put(stage, CATALOGUE);
  assert.equal(first.status, 200, await first.clone().text());
  assert.equal(first.headers.get("etag"), '"1"');
  const shown = await stage.ask("/shops/tickets");
  assert.equal(shown.headers.get("etag"), '"1"');
  const catalogue = await read<CatalogueInput>(shown);
  assert.deepEqual(catalogue, CATALOGUE);
  const again = await put(stage, catalogue, { "if-match": '"1"' });
  assert.deepEqual([again.status, again.headers.get("etag")], [200, '"2"']);
  const listed = await read<{ shops: { name: string; version: number; rooms: string[] }[] }>(
    await stage.ask("/shops"),
  );
  assert.deepEqual(
    listed.shops.map(({ name, version, rooms }) => [name, version, rooms]),
    [["tickets", 2, ["main"]]],
  );
});

test("who sets a catalogue says which one it replaces, and is refused when that is another by now", async () => {
  const stage = await shopScene();
  const code = async (headers: Record<string, string>) => {
    const answer = await put(stage, CATALOGUE, headers);
    return answer.status === 200 ? 200 : [answer.status, (await read(answer)).error.code];
  };
  assert.deepEqual(await code({}), [428, "precondition_needed"]);
  assert.deepEqual(await code({ "if-none-match": '"1"' }), [428, "precondition_needed"]);
  assert.deepEqual(await code({ "if-match": '"1"' }), [412, "version_mismatch"]);
  assert.deepEqual(await code(FIRST), 200);
  assert.deepEqual(await code(FIRST), [412, "version_mismatch"]);
  assert.deepEqual(await code({ "if-match": '"nonsense"' }), [412, "version_mismatch"]);
  assert.deepEqual(await code({ "if-match": "*" }), 200);
  assert.deepEqual(await code({ "if-match": 'W/"2"' }), 200);
});

test("a catalogue that is not good is refused with every problem, and stays byte for byte as it was", async () => {
  const stage = await shopScene();
  await put(stage, CATALOGUE);
  const before = await (await stage.ask("/shops/tickets")).text();
  const cases: readonly (readonly [change: object, path: string, message: RegExp])[] = [
    [{ currency: "XXL" }, "currency", /ISO 4217/],
    [{ products: { seat: { stock: -1 } } }, "products.seat.stock", /is -1/],
    [{ products: { seat: { stock: 1, parts: { seat: 1 } } } }, "products.seat", /circle|cycle|itself/i],
    [{ products: { a: { stock: 1, parts: { nothing: 1 } } }, pools: {} }, "products.a.parts.nothing", /no/i],
    [{ policies: { shoppingWindow: "10" } }, "policies.shoppingWindow", /no unit/],
    [{ policies: { payment: { room: "elsewhere" } } }, "policies.payment.room", /no room "elsewhere"/],
    [{ products: { seat: { stock: 1, rooms: ["pay"] } } }, "products.seat.rooms", /does not sell/],
  ];
  for (const [change, path, message] of cases) {
    const answer = await put(stage, { ...CATALOGUE, ...change }, { "if-match": "*" });
    const { error, problems } = await read(answer);
    assert.deepEqual([answer.status, error.code], [422, "bad_catalogue"], path);
    assert.equal(problems[0]?.path, path);
    assert.match(problems[0]!.message, message);
  }
  assert.equal(await (await stage.ask("/shops/tickets")).text(), before);
});

test("what is allowed but seldom meant is told with the version", async () => {
  const stage = await shopScene();
  const answer = await put(stage, { ...CATALOGUE, policies: { payment: { room: "pay" } } });
  const { cautions } = await read<{ cautions: { path: string }[] }>(answer);
  assert.deepEqual(
    cautions.map(({ path }) => path),
    ["policies.payingWindow"],
  );
});

test("stock is shown by where its units are, and changed by a number", async () => {
  const stage = await shopScene();
  await put(stage, CATALOGUE);
  await buy(stage, 2);
  const adjust = (json: object, headers = {}, product = "seat") =>
    stage.ask(`/shops/tickets/products/${product}/adjust`, { json, headers });
  const { products } = await read<{ products: { id: string; stock: number; available: number }[] }>(
    await stage.ask("/shops/tickets/stock"),
  );
  assert.deepEqual(
    products.map(({ id, stock, available }) => [id, stock, available]),
    [
      ["seat", 10, 6],
      ["pair", null, 3],
      ["hall", 8, null],
    ],
  );
  const key = { "idempotency-key": "one" };
  for (let time = 0; time < 2; time++) {
    const more = await adjust({ delta: 5 }, key);
    assert.deepEqual([more.status, (await read<{ stock: number }>(more)).stock], [200, 15]);
  }
  const code = async (answer: Response) => [answer.status, (await read(answer)).error.code];
  assert.deepEqual(await code(await adjust({ delta: -14 })), [409, "stock_held"]);
  assert.deepEqual(await code(await adjust({ delta: -16, shortfall: "record" })), [409, "stock_held"]);
  assert.deepEqual(await code(await adjust({ delta: 1 }, {}, "pair")), [409, "stock_held"]);
  assert.deepEqual(await code(await adjust({ delta: 1 }, {}, "nothing")), [404, "no_such_product"]);
  assert.deepEqual(await code(await adjust({ delta: 0.5 })), [422, "bad_change"]);
  assert.deepEqual(await code(await adjust({ delta: 1 }, { "idempotency-key": "a b" })), [
    400,
    "bad_request",
  ]);
  const short = await read<{ shortfall: number }>(await adjust({ delta: -14, shortfall: "record" }));
  assert.equal(short.shortfall, 1);
});

test("a shop is closed and opened, and a product that stays sold out is reopened", async () => {
  const stage = await shopScene();
  await put(stage, { currency: "EUR", products: { seat: { stock: 1, staysSoldOut: true } } });
  const closed = await stage.ask("/shops/tickets/close", { method: "POST" });
  assert.equal((await read<{ isClosed: boolean }>(closed)).isClosed, true);
  const now = stage.world.clock.now();
  const refused = await stage.ledger.hold(
    { ...SHOPPER, admittedAt: now },
    { product: "seat", count: 1, chosen: [] },
    now,
  );
  assert.deepEqual(refused.kind === "refused" && refused.code, "notOpen");
  await stage.ask("/shops/tickets/open", { method: "POST" });
  await buy(stage, 1);
  await stage.ledger.cancel("order-ab", null, "cancelled", now);
  const stateOf = async () => {
    const { products } = await read<{ products: { state: string }[] }>(
      await stage.ask("/shops/tickets/stock"),
    );
    return products[0]?.state;
  };
  assert.equal(await stateOf(), "soldOut");
  assert.equal((await stage.ask("/shops/tickets/products/seat/reopen", { method: "POST" })).status, 200);
  assert.equal(await stateOf(), "available");
});

test("orders are listed, shown, cancelled once, and exported", async () => {
  const stage = await shopScene();
  await put(stage, CATALOGUE);
  for (const visitor of ["ab", "cd", "ef"]) await buy(stage, 2, visitor.repeat(16));
  const list = async (query: string) =>
    (await read<{ orders: { id: string }[] }>(await stage.ask(`/shops/tickets/orders${query}`))).orders.map(
      ({ id }) => id,
    );
  assert.deepEqual(await list(""), ["order-ab", "order-cd", "order-ef"]);
  assert.deepEqual(await list("?after=1&limit=1"), ["order-cd"]);
  assert.equal((await stage.ask("/shops/tickets/orders?limit=0")).status, 422);
  const order = await read<{ tickets: { id: string; secret: string }[] }>(
    await stage.ask("/shops/tickets/orders/order-ab"),
  );
  assert.equal(order.tickets.length, 2);
  assert.equal((await stage.ask("/shops/tickets/orders/nothing")).status, 404);
  const cancel = async (json?: object) => {
    const options = json === undefined ? { method: "POST" } : { json };
    return read<{ changed: string[] }>(await stage.ask("/shops/tickets/orders/order-ab/cancel", options));
  };
  const one = order.tickets[0]!.id;
  assert.deepEqual((await cancel({ tickets: [one] })).changed, [one]);
  assert.deepEqual((await cancel({ tickets: [one] })).changed, []);
  assert.deepEqual((await cancel()).changed, [order.tickets[1]!.id]);
  const unknown = await stage.ask("/shops/tickets/orders/order-ab/cancel", { json: { tickets: ["x"] } });
  assert.equal(unknown.status, 404);
  const csv = await stage.ask("/shops/tickets/export");
  assert.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8");
  assert.match(csv.headers.get("content-disposition")!, /orders-tickets\.csv/);
  assert.equal((await csv.text()).trimEnd().split("\r\n").length, 1 + 6);
  const lines = (await (await stage.ask("/shops/tickets/export?format=json")).text()).trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { number: number }).number),
    [1, 2, 3],
  );
});

test("a ledger that cannot be read, written or reached says why", async () => {
  const stage = await shopScene();
  const message = "The ledger of the shop cannot be read.";
  for (const name of ["LedgerDamaged", "StoreProblem", "ShopAway"]) {
    stage.ledger.broken = Object.assign(new Error(message), { name });
    for (const path of ["/shops", "/shops/tickets", "/shops/tickets/stock", "/shops/tickets/orders"]) {
      const answer = await stage.ask(path);
      assert.deepEqual(
        [answer.status, (await read(answer)).error],
        [503, { code: "shop_away", message }],
        `${name} ${path}`,
      );
    }
  }
  assert.equal((await stage.ask("/metrics")).status, 200);
});

test("a shop that is not there is refused everywhere, with those that are", async () => {
  const stage = await shopScene();
  const calls = [
    ...["GET /", "PUT /", "GET /stock", "GET /figures", "POST /products/seat/reopen", "POST /close"],
    ...["POST /open", "GET /orders", "GET /orders/x", "POST /orders/x/cancel", "GET /export", "POST /verify"],
  ];
  for (const call of calls) {
    const [method, path] = call.split(" ") as [string, string];
    const json = method === "PUT" ? { json: CATALOGUE } : {};
    const answer = await stage.ask(`/shops/other${path === "/" ? "" : path}`, {
      method,
      headers: FIRST,
      ...json,
    });
    const { error } = await read(answer);
    assert.deepEqual([answer.status, error.code], [404, "no_such_shop"], call);
    assert.match(error.message, /There are: tickets\./);
  }
});

test(
  proves(
    ["me2", "me3", "me4", "me5", "me6", "me7", "me8"],
    "people and tickets by phase, and who came and went, are metrics of each shop and each of its rooms",
  ),
  async () => {
    const stage = await shopScene();
    await put(stage, CATALOGUE);
    await buy(stage, 2);
    const now = stage.world.clock.now();
    const browsing = { ...SHOPPER, visitor: "cd".repeat(16), admittedAt: now };
    await stage.ledger.hold(browsing, { product: "pair", count: 1, chosen: [] }, now);
    const families = readMetrics(await (await stage.ask("/metrics")).text());
    const value = (series: string) => families.get(series.split("{", 1)[0]!)?.samples.get(series);
    assert.equal(value('fairgate_shop_customers{shop="tickets",phase="browsing"}'), 1);
    assert.equal(value('fairgate_shop_room_customers{shop="tickets",room="main",phase="browsing"}'), 1);
    assert.equal(value('fairgate_shop_tickets{shop="tickets",state="sold"}'), 2);
    assert.equal(value('fairgate_shop_arrived_total{shop="tickets"}'), 2);
    assert.equal(value('fairgate_shop_room_departed_total{shop="tickets",room="main"}'), 1);
    assert.equal(value('fairgate_shop_bought_total{shop="tickets"}'), 1);
    assert.equal(value('fairgate_shop_product_units{shop="tickets",product="hall",state="reserved"}'), 2);
    assert.equal(value('fairgate_shop_product_stock{shop="tickets",product="seat"}'), 10);
    assert.equal(value('fairgate_shop_closed{shop="tickets"}'), 0);
  },
);
