import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClientProblem, createLine, createShop, type LineSnapshot, type ShopBasket } from "./client.ts";
import { type HandAnswer, HandBrowser } from "./testing/client/hand-browser.ts";

const waiting = (change: object = {}): HandAnswer => ({
  body: {
    ...{ status: "waiting", sequence: 100, ahead: 40, waiting: 90, nextCheckInMs: 10_000, state: "queueing" },
    ...{ opensAt: null, message: "Hello", waitMs: { low: 1_000, middle: 2_000, high: 3_000 } },
    ...change,
  },
});
const entered: HandAnswer = { body: { status: "entered", expiresInMs: 60_000 } };

/** Marks from sequence 60 (nobody ahead) to 160 (100 ahead). */
const board = (change: object = {}) => ({
  ...{
    room: "main",
    version: 1,
    madeAt: 1_000,
    state: "queueing",
    waiting: 80,
    admitted: 59,
    message: "Hello",
  },
  ...{
    marks: [
      [60, 0],
      [160, 100],
    ],
    waits: [
      [0, 0, 0, 0],
      [100, 50, 100, 200],
    ],
    nextEventAt: null,
  },
  ...change,
});

type Answers = Record<string, HandAnswer | (() => HandAnswer | Promise<HandAnswer>)>;

/** A line over a hand-moved browser that is answered from a table. */
function lineOver(answers: Answers, options: object = {}, more: object = {}) {
  const browser = new HandBrowser(({ what }) => {
    const answer = answers[what] ?? assert.fail(`${what} was asked`);
    return typeof answer === "function" ? answer() : answer;
  });
  const states: LineSnapshot[] = [];
  const line = createLine({ ...browser.options(options), ...more });
  line.subscribe((state) => states.push(state));
  return { browser, line, states };
}

test("a visitor joins, waits while boards come, hears of the turn, and is in", async () => {
  let turns = 0;
  const { browser, line, states } = lineOver(
    { "POST join": waiting(), "POST enter": entered },
    {},
    { onTurn: () => turns++ },
  );
  assert.equal(line.getSnapshot().status, "new");
  const state = await line.join();
  assert.deepEqual([state.status, state.ahead, state.waiting, state.message], ["waiting", 40, 90, "Hello"]);
  browser.stream.send("board", board());
  assert.deepEqual(line.getSnapshot().waitMs, { low: 20_000, middle: 40_000, high: 80_000 });
  browser.stream.send(
    "board",
    board({
      madeAt: 2_000,
      marks: [
        [90, 0],
        [160, 70],
      ],
      waiting: 50,
    }),
  );
  assert.deepEqual([line.getSnapshot().ahead, line.getSnapshot().waiting], [10, 50]);
  await browser.pass(60_000);
  assert.deepEqual(browser.take(), ["POST join"], "neither polls nor check-ins while events come");
  browser.stream.send("turn", { claimByMs: 30_000 });
  await browser.settle();
  assert.deepEqual(browser.take(), ["POST enter"]);
  assert.equal(turns, 1);
  assert.deepEqual(
    states.map(({ status }) => status).filter((status, n, all) => status !== all[n - 1]),
    ["waiting", "admitted", "entered"],
  );
  assert.equal(browser.stream.readyState, 2);
  await browser.pass(600_000);
  assert.deepEqual(browser.take(), []);
});

test("without event streams the board is polled, and check-ins are sent when the server said", async () => {
  const answers = {
    "POST join": waiting(),
    "POST check-in": waiting({ ahead: 30 }),
    "GET board": { body: board() },
  };
  const { browser, line } = lineOver(answers, { hasStreams: false });
  await line.join();
  await browser.pass(30_500);
  const asked = browser.asked.map(({ what, atMs }) => `${what} ${atMs}`);
  assert.deepEqual(
    asked.filter((text) => text.startsWith("POST check-in")),
    ["POST check-in 10000", "POST check-in 20000", "POST check-in 30000"],
  );
  assert.deepEqual(asked.filter((text) => text.startsWith("GET board")).slice(0, 3), [
    "GET board 4000",
    "GET board 8000",
    "GET board 12000",
  ]);
  line.close();
  browser.take();
  await browser.pass(60_000);
  assert.deepEqual(browser.take(), []);
});

test("a stream that fails is replaced by polls until events come again", async () => {
  const answers = { "POST join": waiting(), "POST check-in": waiting(), "GET board": { body: board() } };
  const { browser, line } = lineOver(answers);
  await line.join();
  browser.stream.send("board", board());
  browser.stream.fail();
  await browser.pass(5_000);
  assert.deepEqual(browser.take(), ["POST join", "GET board"]);
  browser.stream.send("board", board({ madeAt: 3_000 }));
  await browser.pass(20_000);
  assert.deepEqual(browser.take(), []);
  browser.stream.fail(true);
  await browser.pass(21_000);
  assert.equal(browser.streams.length, 2, "one that was refused is opened anew");
  browser.stream.send("bye", {});
  assert.equal(browser.stream.readyState, 2);
  await browser.pass(20_000);
  assert.equal(browser.streams.length, 3);
  await browser.pass(1_000);
  browser.stream.send("board", board({ madeAt: 4_000 }));
  await browser.pass(90_000);
  assert.equal(browser.streams.length, 4, "one that has been silent for long, too");
});

test("numbers of lanes, of draws and of boards from before the visitor came are those of check-ins", async () => {
  for (const change of [
    { lanes: { 1: {} } },
    { draw: { event: "sale", seedHash: "a", seed: null } },
    {
      marks: [
        [10, 0],
        [99, 89],
      ],
    },
    { marks: [] },
    { marks: null },
  ]) {
    const { browser, line } = lineOver({ "POST join": waiting(), "POST check-in": waiting({ ahead: 39 }) });
    await line.join();
    browser.stream.send("board", board({ ...change, waiting: 70 }));
    assert.deepEqual(
      [line.getSnapshot().ahead, line.getSnapshot().waiting],
      [40, 70],
      JSON.stringify(change),
    );
    await browser.pass(10_000);
    assert.equal(line.getSnapshot().ahead, 39);
    line.close();
  }
});

test("a visitor never sees more people ahead on a board than before, nor an older board", async () => {
  const { browser, line } = lineOver({ "POST join": waiting({ ahead: 20 }) });
  await line.join();
  browser.stream.send("board", board({ madeAt: 5_000 }));
  assert.equal(line.getSnapshot().ahead, 20, "40 on the board");
  browser.stream.send(
    "board",
    board({
      madeAt: 6_000,
      marks: [
        [95, 0],
        [160, 65],
      ],
    }),
  );
  browser.stream.send(
    "board",
    board({
      madeAt: 5_500,
      marks: [
        [99, 0],
        [160, 61],
      ],
    }),
  );
  assert.equal(line.getSnapshot().ahead, 5);
  line.close();
});

test("a place is asked for again as the server says, with the work that it wants", async () => {
  const answers: HandAnswer[] = [
    { status: 202, body: { status: "comeBack", reason: "firstContact", waitMs: 5_000, work: null } },
    {
      status: 202,
      body: { status: "comeBack", reason: "noWork", waitMs: 0, work: { challenge: "c", bits: 3 } },
    },
    waiting(),
  ];
  const { browser, line } = lineOver(
    { "POST join": () => answers.shift()! },
    {},
    { solve: async ({ challenge, bits }: { challenge: string; bits: number }) => `${challenge}${bits}` },
  );
  const joined = line.join();
  await browser.pass(7_000);
  assert.equal((await joined).status, "waiting");
  assert.deepEqual(
    browser.asked.map(({ atMs, headers }) => [atMs, headers["fairgate-work"]]),
    [
      [0, undefined],
      [5_000, undefined],
      [6_000, "c3"],
    ],
  );
  line.close();
});

test("what becomes of a place is a state and no failure, whatever the status of the answer", async () => {
  for (const [answer, status, reason] of [
    [{ status: 403, body: { status: "refused", reason: "notPrivileged" } }, "refused", "notPrivileged"],
    [{ status: 429, body: { status: "refused", reason: "addressBudget" } }, "refused", "addressBudget"],
    [{ body: { status: "expired" } }, "expired", undefined],
  ] as const) {
    const { line } = lineOver({ "POST join": answer });
    const state = await line.join();
    assert.deepEqual([state.status, state.reason], [status, reason]);
  }
});

test("while nothing answers, the state says so, and the place is asked after again", async () => {
  let isUp = true;
  const { browser, line } = lineOver(
    {
      "POST join": waiting(),
      "GET board": () => (isUp ? { body: board() } : "network"),
      "POST check-in": () => (isUp ? waiting({ ahead: 7 }) : "html"),
    },
    { hasStreams: false },
  );
  await line.join();
  isUp = false;
  await browser.pass(30_000);
  assert.equal(line.getSnapshot().isOnline, false);
  assert.equal(line.getSnapshot().status, "waiting");
  isUp = true;
  await browser.pass(60_000);
  assert.deepEqual([line.getSnapshot().isOnline, line.getSnapshot().ahead], [true, 7]);
  line.close();
});

test("a page that does not want the turn to be used at once uses it by itself, and leaving gives it up", async () => {
  const answers = {
    "POST join": { body: { status: "admitted", claimByMs: 9_000 } },
    "POST enter": entered,
    "POST leave": { body: { status: "left" } },
  };
  const { browser, line } = lineOver(answers, {}, { autoEnter: false });
  assert.equal((await line.join()).status, "admitted");
  assert.deepEqual(browser.take(), ["POST join"]);
  assert.equal((await line.enter()).status, "entered");
  assert.equal((await line.leave()).status, "left");
});

const BASKET: ShopBasket = {
  ...{ phase: "browsing", expiresAt: null, expiresInMs: null, holds: [], total: 9_500, currency: "EUR" },
  ...{ isValid: true, attemptsLeft: 3, order: null, released: [] },
};
const product = (id: string, change: object = {}) => ({
  ...{ id, name: id, price: 9_500, isForSale: true, parts: [], options: [], choices: [] },
  ...{ limitPerCustomer: null, saleStart: null, saleEnd: null, state: "available", available: 10 },
  ...change,
});
const CATALOGUE = {
  ...{
    status: "catalogue",
    version: 100,
    catalogueVersion: 1,
    currency: "EUR",
    opensAt: null,
    isClosed: false,
  },
  ...{ itemsMax: null, shoppingWindowMs: 900_000, paymentRoom: null },
  products: [product("seat"), product("parking")],
};
const NO_BASKET: HandAnswer = { body: { status: "noBasket", lists: [] } };

function shopOver(answers: Answers, options: object = {}) {
  const all: typeof answers = {
    "GET shop/catalogue": { body: CATALOGUE },
    "GET shop/basket": NO_BASKET,
    ...answers,
  };
  const browser = new HandBrowser(({ what }) => {
    const answer = all[what] ?? assert.fail(`${what} was asked`);
    return typeof answer === "function" ? answer() : answer;
  });
  return { browser, shop: createShop(browser.options(options)), answers: all };
}

async function problemOf(asked: Promise<unknown>): Promise<ClientProblem> {
  return asked.then(
    () => assert.fail("it was not refused"),
    (problem) => problem,
  );
}

test("a shop opens with catalogue and basket, and takes changes of products as they come", async () => {
  const { browser, shop } = shopOver({});
  assert.equal(shop.getSnapshot().catalogue, null);
  await shop.open();
  assert.equal(shop.getSnapshot().basket, null);
  const state = () =>
    shop.getSnapshot().catalogue!.products.map(({ id, state, available }) => `${id} ${state} ${available}`);
  assert.deepEqual(state(), ["seat available 10", "parking available 10"]);
  const news = {
    version: 101,
    catalogueVersion: 1,
    products: [{ id: "seat", state: "inBaskets", available: 0 }],
  };
  browser.stream.send("changes", news);
  assert.deepEqual(state(), ["seat inBaskets 0", "parking available 10"]);
  browser.stream.send("changes", {
    ...news,
    version: 99,
    products: [{ id: "seat", state: "available", available: 5 }],
  });
  assert.deepEqual(state(), ["seat inBaskets 0", "parking available 10"], "older news is none");
  assert.equal(shop.getSnapshot().catalogue!.products[0]!.name, "seat");
  browser.take();
  await browser.pass(300_000);
  assert.deepEqual(
    browser.take(),
    Array(5).fill("GET shop/basket"),
    "now and then for what a waiting list offers",
  );
  shop.close();
  assert.equal(browser.stream.readyState, 2);
});

test("other products, or another catalogue, are read whole", async () => {
  const { browser, shop, answers } = shopOver({});
  await shop.open();
  const news = (change: object) => ({
    version: 200,
    catalogueVersion: 1,
    products: CATALOGUE.products,
    ...change,
  });
  browser.stream.send("products", news({}));
  browser.take();
  answers["GET shop/catalogue"] = {
    body: { ...CATALOGUE, version: 300, products: [product("seat"), product("cap")] },
  };
  browser.stream.send("products", news({ version: 299, products: [product("seat"), product("cap")] }));
  await browser.settle();
  assert.deepEqual(browser.take(), ["GET shop/catalogue"]);
  assert.deepEqual(
    shop.getSnapshot().catalogue!.products.map(({ id }) => id),
    ["seat", "cap"],
  );
  browser.stream.send("products", news({ version: 301, products: [product("seat")] }));
  browser.stream.send("changes", news({ version: 302, catalogueVersion: 2, products: [] }));
  await browser.settle();
  assert.deepEqual(browser.take(), ["GET shop/catalogue", "GET shop/catalogue"]);
  shop.close();
});

test("every call is the one that the server knows, and its basket is the state", async () => {
  const basket = { body: { status: "basket", ...BASKET } };
  const listed = { body: { status: "listed", place: { product: "a/b", count: 2, ahead: 5 } } };
  const { browser, shop } = shopOver({
    "POST shop/holds": { status: 201, body: { status: "basket", made: ["h1"], ...BASKET } },
    "POST shop/holds/h%2F1/items": basket,
    "DELETE shop/holds/h%2F1": basket,
    "POST shop/finish": { body: { status: "basket", ...BASKET, phase: "done" } },
    "POST shop/pay": {
      body: {
        status: "paying",
        attempt: "a1",
        amount: 9_500,
        currency: "EUR",
        basket: { ...BASKET, phase: "paying" },
      },
    },
    "POST shop/leave": { body: { status: "basket", ...BASKET, phase: "departed" } },
    "POST shop/waiting-list/a%2Fb": listed,
    "DELETE shop/waiting-list/a%2Fb": { body: { status: "left", product: "a/b" } },
  });
  const made = await shop.hold({ product: "seat", count: 2, chosen: [{ product: "parking" }] });
  assert.deepEqual(made.made, ["h1"]);
  assert.deepEqual(browser.asked[0]!.body, { product: "seat", count: 2, chosen: [{ product: "parking" }] });
  assert.equal(browser.asked[0]!.headers["content-type"], "application/json");
  await shop.extend("h/1", { product: "parking" });
  await shop.undo("h/1");
  assert.equal(shop.getSnapshot().basket?.phase, "browsing");
  await shop.finish();
  assert.equal(shop.getSnapshot().basket?.phase, "done");
  const { attempt, amount } = await shop.pay();
  assert.deepEqual([attempt, amount], ["a1", 9_500]);
  assert.equal(shop.getSnapshot().basket?.phase, "paying");
  await shop.leave();
  assert.equal(shop.getSnapshot().basket?.phase, "departed");
  assert.deepEqual(await shop.joinList("a/b", 2).then(({ ahead }) => ahead), 5);
  assert.deepEqual(browser.asked.at(-1)!.body, { count: 2 });
  await shop.leaveList("a/b");
  const keys = browser.asked.map(({ headers }) => headers["idempotency-key"]);
  assert.equal(new Set(keys).size, keys.length, "a key of its own for each");
  for (const key of keys) assert.match(key!, /^[\d-]{10,200}$/);
  shop.close();
});

test("a write without an answer is repeated with its key, ever later, until there is one", async () => {
  const answers: HandAnswer[] = [
    "network",
    "html",
    { status: 503, body: { status: "shopAway" } },
    { status: 201, body: BASKET },
  ];
  const { browser, shop } = shopOver({ "POST shop/holds": () => answers.shift()! });
  const held = shop.hold({ product: "seat" });
  await browser.pass(400);
  assert.equal(shop.getSnapshot().isOnline, false);
  await browser.pass(10_000);
  assert.equal((await held).total, 9_500);
  assert.equal(shop.getSnapshot().isOnline, true);
  assert.equal(new Set(browser.asked.map(({ headers }) => headers["idempotency-key"])).size, 1);
  assert.deepEqual(
    browser.asked.map(({ atMs }) => atMs),
    [0, 800, 2_400, 5_600],
  );
  shop.close();
});

test("after six tries without an answer the call fails, and the state was never changed", async () => {
  const { browser, shop } = shopOver({ "POST shop/holds": "network" });
  const failed = problemOf(shop.hold({ product: "seat" }));
  await browser.pass(60_000);
  const { status, code, message } = await failed;
  assert.deepEqual([status, code, message], [0, "network", "network"]);
  assert.equal(browser.asked.length, 6);
  assert.equal(shop.getSnapshot().basket, null);
});

test("what the server refuses is not repeated, and says why", async () => {
  const { browser, shop } = shopOver({
    "POST shop/holds": {
      status: 409,
      body: { status: "refused", reason: "insufficientStock", product: "seat", left: 1 },
    },
    "POST shop/finish": { status: 405, body: { error: "use GET" } },
  });
  const { status, code, details } = await problemOf(shop.hold({ product: "seat", count: 2 }));
  assert.deepEqual([status, code, details.left], [409, "insufficientStock", 1]);
  assert.equal((await problemOf(shop.finish())).code, "use GET");
  assert.equal(browser.asked.length, 2);
  assert.equal(shop.getSnapshot().isOnline, true);
});

test("a signal ends a call, its repetitions and nothing else", async () => {
  const { browser, shop } = shopOver({ "POST shop/holds": "network", "POST shop/finish": { body: BASKET } });
  const stop = new AbortController();
  const failed = problemOf(shop.hold({ product: "seat" }, stop.signal));
  await browser.settle();
  stop.abort(new Error("changed my mind"));
  assert.equal((await failed).message, "changed my mind");
  await browser.pass(60_000);
  assert.deepEqual(browser.take(), ["POST shop/holds"]);
  await shop.finish();
  await assert.rejects(shop.hold({ product: "seat" }, stop.signal), /changed my mind/);
  shop.close();
});

test("closing ends what is under way, and a shop can be opened again", async () => {
  const { browser, shop } = shopOver({ "POST shop/holds": "network" });
  await shop.open();
  const failed = problemOf(shop.hold({ product: "seat" }));
  await browser.settle();
  shop.close();
  assert.equal((await failed).name, "AbortError");
  browser.take();
  await browser.pass(100_000);
  assert.deepEqual(browser.take(), []);
  await shop.open();
  assert.equal(browser.streams.length, 2);
  shop.close();
});

test("closing while a look at the basket or a check-in is under way ends that, too", async () => {
  let isHanging = false;
  const hang = (answer: HandAnswer) => () => (isHanging ? new Promise<HandAnswer>(() => {}) : answer);
  const { browser, shop } = shopOver({ "GET shop/basket": hang(NO_BASKET) });
  await shop.open();
  browser.stream.send("products", CATALOGUE);
  isHanging = true;
  await browser.pass(61_000);
  shop.close();
  browser.take();
  await browser.pass(300_000);
  assert.deepEqual(browser.take(), []);

  isHanging = false;
  const other = lineOver({
    "POST join": waiting(),
    "POST check-in": hang(waiting()),
    "GET board": { body: board() },
  });
  await other.line.join();
  isHanging = true;
  await other.browser.pass(11_000);
  other.line.close();
  other.browser.take();
  await other.browser.pass(300_000);
  assert.deepEqual(other.browser.take(), []);
});

test("the basket is looked at again when its phase ends, and every two seconds while a payment is under way", async () => {
  let phase = "done";
  let expiresInMs = 5_000;
  const { browser, shop } = shopOver({
    "GET shop/basket": () => ({ body: { ...BASKET, phase, expiresAt: 1_000_000, expiresInMs } }),
  });
  await shop.refresh();
  browser.take();
  phase = "paying";
  expiresInMs = 60_000;
  await browser.pass(5_100);
  assert.deepEqual(browser.take(), ["GET shop/basket"]);
  await browser.pass(6_000);
  assert.equal(browser.take().length, 3);
  phase = "departed";
  await browser.pass(3_000);
  browser.take();
  await browser.pass(600_000);
  assert.deepEqual(browser.take(), []);
  assert.equal(shop.getSnapshot().basket?.phase, "departed");
});

test("the server's time is told where the device's clock is wrong", async () => {
  const { browser, shop } = shopOver({
    "GET shop/basket": () => ({
      body: { ...BASKET, expiresAt: browser.now + 3_600_000 + 10_000, expiresInMs: 10_000 },
    }),
  });
  assert.equal(shop.now(), browser.now);
  await shop.refresh();
  assert.equal(shop.now(), browser.now + 3_600_000);
  shop.close();
});

test("a store is as useSyncExternalStore wants it: the same snapshot until something changes", async () => {
  const { shop } = shopOver({ "POST shop/holds": { status: 201, body: BASKET } });
  const before = shop.getSnapshot();
  assert.equal(shop.getSnapshot(), before);
  let calls = 0;
  const stop = shop.subscribe(() => calls++);
  await shop.hold({ product: "seat" });
  assert.equal(calls, 1);
  assert.notEqual(shop.getSnapshot(), before);
  assert.equal(shop.getSnapshot(), shop.getSnapshot());
  stop();
  await shop.refresh().catch(() => {});
  assert.equal(calls, 1);
  const { getSnapshot, subscribe } = shop;
  assert.equal(getSnapshot(), shop.getSnapshot());
  subscribe(() => {})();
  shop.close();
});
