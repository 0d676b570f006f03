import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsFrom } from "./load.ts";

const SECRET = "a-secret-of-the-tests-long-enough-to-be-one";
const WEBHOOK = `whsec_${"a+secret/of0the1tests".repeat(2)}`;
const BASE = {
  secret: SECRET,
  data: "./kept",
  origin: { addresses: ["http://127.0.0.1:3000"] },
  shops: { tickets: {} },
  rooms: { main: { totalActiveUsers: 1, shop: "tickets" } },
};

function read(change: object, environment: Record<string, string> = {}, files: Record<string, string> = {}) {
  const readFile = (name: string) => {
    const found = Object.entries(files).find(([file]) => name.endsWith(file));
    if (!found) throw Object.assign(new Error("none"), { code: "ENOENT" });
    return found[1];
  };
  return settingsFrom({ ...BASE, ...change }, { environment, readFile });
}

function problems(change: object, environment: Record<string, string> = {}): string[] {
  const result = read(change, environment);
  return result.ok ? [] : result.problems.map(({ message }) => message);
}

test("a shop with a room and a data directory is good, and has its defaults", () => {
  const result = read({});
  assert.ok(result.ok);
  assert.deepEqual(result.settings.shops.tickets, {
    catalogueFile: null,
    customer: null,
    payment: null,
    orders: null,
    callsPerVisitorMax: 120,
    callsPerAddressMax: 3_000,
  });
  assert.deepEqual(result.warnings, []);
});

test("a shop needs a data directory", () => {
  assert.deepEqual(problems({ data: null }), ["there are shops, and no data directory to keep what is sold"]);
});

test("a shop is kept in Redis without a data directory, and refused once in a cluster and behind a relaxed line", () => {
  const redis = { url: "redis://127.0.0.1:6379/0" };
  const ofShops = (change: Parameters<typeof problems>[0]) =>
    problems({ data: null, ...change }).filter((message) => message.includes("shop"));
  assert.deepEqual(ofShops({ redis }), []);
  assert.deepEqual(ofShops({ cluster: {} }), ["rooms.main.shop is tickets, and the line is in a cluster"]);
  const rooms = { main: { totalActiveUsers: 1, shop: "tickets", line: "relaxed" } } as const;
  assert.deepEqual(ofShops({ redis, rooms }), ["rooms.main.shop is tickets, and the line is relaxed"]);
});

test("a room names a shop that is there", () => {
  const rooms = { main: { totalActiveUsers: 1, shop: "ticket" } };
  const result = read({ rooms });
  assert.ok(!result.ok);
  assert.equal(result.problems[0]?.message, 'rooms.main.shop is "ticket", and there is no such shop');
  assert.equal(result.problems[0]?.hint, "Did you mean tickets?");
});

test("a shop that no room sells from is a warning, and so is nothing else", () => {
  const result = read({ rooms: { main: { totalActiveUsers: 1 } } });
  assert.ok(result.ok);
  assert.deepEqual(
    result.warnings.map(({ message }) => message),
    ["no room sells from the shop tickets"],
  );
});

test("a room without a shop cannot close when it is sold out", () => {
  const rooms = {
    main: { totalActiveUsers: 1, shop: "tickets" },
    other: { path: "/o", whenSoldOut: "close" },
  };
  assert.deepEqual(problems({ rooms: { ...rooms, other: { ...rooms.other, totalActiveUsers: 1 } } }), [
    "rooms.other.whenSoldOut is close, and the room has no shop",
  ]);
});

test("names of shops are those of rooms", () => {
  assert.deepEqual(problems({ shops: { tickets: {}, "The Shop": {} } }), [
    '"The Shop" cannot be a shop\'s name',
  ]);
});

test("secrets come from the environment or from a file, the newest first, and stay beside the settings", () => {
  const older = "an-older-secret-of-the-tests-long-enough";
  const shops = {
    tickets: {
      payment: { secretFile: "payment.txt" },
      orders: { webhook: "https://shop.example/orders", secretVariable: "ORDERS" },
      customer: { secretVariable: "CUSTOMER" },
    },
  };
  const environment = { ORDERS: WEBHOOK, CUSTOMER: older };
  const result = read({ shops }, environment, { "payment.txt": `${WEBHOOK}\n${WEBHOOK}=\n` });
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(result.settings.shopSecrets.get("tickets"), {
    customer: older,
    payment: [WEBHOOK, `${WEBHOOK}=`],
    apiKey: null,
    orders: [WEBHOOK],
  });
  assert.ok(!JSON.stringify(result.settings.shops).includes(WEBHOOK));
});

test("a provider, a webhook and customers each need something to be checked or signed by", () => {
  const shops = { tickets: { payment: {}, orders: { webhook: "https://a.example/" }, customer: {} } };
  assert.deepEqual(problems({ shops }), [
    "shops.tickets.customer has nothing to check a JWT by",
    "shops.tickets.payment has no secret",
    "shops.tickets.orders has no secret",
  ]);
});

test("one secret is named once, and one that is not there is a problem", () => {
  const both = { secretVariable: "A", secretFile: "a.txt" };
  assert.deepEqual(problems({ shops: { tickets: { payment: both } } }, { A: WEBHOOK }), [
    "shops.tickets.payment.secretVariable and secretFile are both set",
  ]);
  assert.deepEqual(problems({ shops: { tickets: { payment: { secretVariable: "NOT_THERE" } } } }), [
    "shops.tickets.payment.secretVariable names NOT_THERE, which is not in the environment",
  ]);
});

test("Stripe has secrets of its own form and an API key, and others have none", () => {
  const stripe = { callbacks: "stripe", secretVariable: "PAYMENT", apiKeyVariable: "KEY" };
  const environment = { PAYMENT: SECRET, KEY: "sk_live_0123456789abcdefghijklmnop" };
  const result = read({ shops: { tickets: { payment: stripe } } }, environment);
  assert.ok(result.ok, JSON.stringify(result));
  assert.equal(result.settings.shopSecrets.get("tickets")?.apiKey, environment.KEY);
  const { apiKeyVariable: _, ...without } = stripe;
  assert.deepEqual(problems({ shops: { tickets: { payment: without } } }, environment), [
    "shops.tickets.payment has no API key, with which Stripe is asked to capture and refund",
  ]);
  const standard = { ...stripe, callbacks: "standard" };
  assert.deepEqual(
    problems({ shops: { tickets: { payment: standard } } }, { ...environment, PAYMENT: WEBHOOK }),
    ["shops.tickets.payment.apiKeyVariable is set, and only stripe has an API key"],
  );
  assert.deepEqual(
    problems({ shops: { tickets: { payment: { secretVariable: "PAYMENT" } } } }, environment),
    ["PAYMENT is not a secret for webhooks"],
  );
});

test("a webhook is an address without a password in it", () => {
  for (const webhook of [
    "shop.example/orders",
    "ftp://a.example/",
    "https://u:p@a.example/",
    "https://a.example/#x",
  ])
    assert.ok(
      problems({ shops: { tickets: { orders: { webhook, secretVariable: "A" } } } }, { A: SECRET }).length >
        0,
      webhook,
    );
});

const CATALOGUE = `
currency: EUR
products:
  seat: {stock: 10, rooms: [main], holdBacks: {members: 2}}
policies:
  payment: {room: pay}
`;
const SELLING = {
  shops: { tickets: { catalogueFile: "catalogue.yaml" } },
  rooms: {
    main: { totalActiveUsers: 1, shop: "tickets", lanes: { members: {} } },
    pay: { totalActiveUsers: 1, path: "/pay", sessionDuration: "15m" },
  },
};

function withCatalogue(text: string, change: object = {}) {
  const readFile = (name: string) => (name.endsWith("catalogue.yaml") ? text : assert.fail(name));
  return settingsFrom(
    { ...BASE, ...SELLING, ...change },
    { environment: {}, readFile, checkCatalogue: () => [] },
  );
}

test("the catalogue that a shop begins with is read and checked with the settings", () => {
  const result = withCatalogue(CATALOGUE);
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(result.settings.firstCatalogues.get("tickets")?.policies, { payment: { room: "pay" } });
  assert.deepEqual(result.warnings, []);
});

test("rooms and lanes that a catalogue names are there", () => {
  const result = withCatalogue(
    CATALOGUE.replace("room: pay", "room: pray")
      .replace("[main]", "[main, pay]")
      .replace("members", "member"),
  );
  assert.ok(!result.ok);
  assert.deepEqual(
    result.problems.map(({ message, hint }) => [message.replace("shops.tickets.catalogueFile: ", ""), hint]),
    [
      ['catalogue.yaml: policies.payment.room there is no room "pray"', "Did you mean pay?"],
      [
        'catalogue.yaml: products.seat.rooms the room "pay" does not sell from this shop',
        "Write shop: tickets in it, or take it out here.",
      ],
      [
        'catalogue.yaml: products.seat.holdBacks.member no room that sells from this shop has a lane "member"',
        "There are members.",
      ],
    ],
  );
});

test("what is wrong with a catalogue by itself is a problem of the settings", () => {
  const result = withCatalogue("currency: EUR\nproducts:\n  seat: {stock: -1}\n");
  assert.ok(!result.ok);
  assert.match(result.problems[0]!.message, /products\.seat\.stock is -1/);
});

test("visits to a payment room that end before the time to pay are cautioned about", () => {
  const { rooms } = SELLING;
  const result = withCatalogue(CATALOGUE, {
    rooms: { ...rooms, pay: { ...rooms.pay, sessionDuration: "5m" } },
  });
  assert.ok(result.ok);
  assert.equal(
    result.warnings[0]?.message,
    "shops.tickets.catalogueFile: catalogue.yaml: policies.payingWindow visitors have 15m to pay, and a visit to the payment room pay ends after 5m without a request",
  );
});

test("which shop a room sells from is set in the file alone", async () => {
  const { checkRoomChange } = await import("./room-change.ts");
  const result = read({});
  assert.ok(result.ok);
  const context = { trustedProxies: [], lineKind: "memory", checkPage: () => null } as const;
  const changed = checkRoomChange(result.settings.rooms.main!, { shop: null }, context);
  assert.ok(!changed.ok);
  assert.ok(checkRoomChange(result.settings.rooms.main!, { whenSoldOut: "close" }, context).ok);
});
