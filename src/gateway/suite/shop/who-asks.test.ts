/** Who may ask a shop: by pass, by shop token, from which site, and how often. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http, { type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { SignJWT } from "jose";
import { proves } from "../../../testing/requirements/proves.ts";
import { openShopStage, shop, TEN_SEATS } from "../../../testing/shop/shopper.ts";
import { until } from "../../../testing/until.ts";
import { CALL_BYTES_MAX } from "../../shop/shop-endpoints.ts";

const SEAT = { json: { product: "seat" } };
const CUSTOMER_SECRET = "a-secret-of-the-tests-for-customers-of-shops";
const CALLS = [
  ...["POST holds", "POST holds/x/items", "DELETE holds/x", "GET basket", "POST finish", "POST pay"],
  ...["POST leave", "GET catalogue", "GET events", "POST waiting-list/seat", "DELETE waiting-list/seat"],
];

test("without a pass nobody gets anything, and the shop is not asked", async (t) => {
  const stage = await openShopStage(t, { room: { totalActiveUsers: 1 } });
  await stage.occupant();
  const waiting = stage.visitor();
  await waiting.open();
  const before = { ...stage.desk.calls };
  for (const visitor of [waiting, stage.visitor()])
    for (const call of CALLS) {
      const { status, words } = await shop(visitor, call, SEAT);
      assert.deepEqual([status, words.status, words.reason], [403, "refused", "noPass"], call);
    }
  assert.deepEqual(stage.desk.calls, before);
});

test("a basket outlives the pass: it is seen, finished, paid and left, but nothing is added", async (t) => {
  const stage = await openShopStage(t, { room: { sessionDuration: "1m", formGrace: "0ms" } });
  const visitor = await stage.shopper();
  assert.equal((await shop(visitor, "POST holds", SEAT)).status, 201);
  stage.world.pass(5 * 60_000);
  assert.deepEqual((await shop(visitor, "POST holds", SEAT)).words, { status: "refused", reason: "noPass" });
  assert.equal((await shop(visitor, "POST waiting-list/seat", { json: {} })).status, 403);
  assert.equal((await shop(visitor, "GET basket")).words.phase, "browsing");
  assert.equal((await shop(visitor, "GET catalogue")).status, 200);
  assert.equal((await shop(visitor, "POST finish")).words.phase, "done");
  assert.equal((await shop(visitor, "POST pay")).status, 200);
  assert.equal((await stage.desk.orders(0, 10)).length, 1);
});

test("the shop cookie is for the shop alone, hidden from scripts and from the site", async (t) => {
  const stage = await openShopStage(t, {
    room: { totalActiveUsers: 1, sessionDuration: "1m", formGrace: "0ms" },
  });
  const visitor = await stage.shopper();
  const { answer } = await shop(visitor, "POST holds", SEAT);
  const set = answer.headers["set-cookie"]!.find((line) => line.startsWith("fairgate_main_shop="))!;
  assert.match(set, /; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
  await visitor.open("/page");
  assert.doesNotMatch(String(stage.origin.seen.at(-1)?.headers.cookie), /fairgate/);
  const token = visitor.cookies.get("fairgate_main_shop")!;
  const pass = visitor.cookies.get("fairgate_main")!;
  // In the place of a pass it is nothing.
  const thief = stage.visitor();
  thief.cookies.set("fairgate_main", token);
  assert.equal(await thief.isIn(), false);
  assert.equal((await shop(thief, "POST holds", SEAT)).status, 403);
  const program = await stage
    .visitor()
    .ask("/", { headers: { accept: "application/json", "fairgate-token": token } });
  assert.equal(program.status, 429);
  // And a pass in its place neither, once it has run out.
  stage.world.pass(2 * 60_000);
  const other = stage.visitor();
  other.cookies.set("fairgate_main_shop", pass);
  assert.equal((await shop(other, "GET basket")).status, 403);
  // Nor is one of another room, or one that was changed.
  for (const bad of [`${token.slice(0, -2)}AA`, "", "x"]) {
    other.cookies.set("fairgate_main_shop", bad);
    assert.equal((await shop(other, "GET basket")).status, 403);
  }
  other.cookies.set("fairgate_main_shop", token);
  assert.equal((await shop(other, "GET basket")).status, 200);
});

test("a shop token stays good while keys are changed", async (t) => {
  const stage = await openShopStage(t, { room: { sessionDuration: "1m", formGrace: "0ms" } });
  const visitor = await stage.shopper();
  await shop(visitor, "POST holds", SEAT);
  for (let time = 0; time < 3; time++) await stage.proxied.gateway.rotateKeys();
  stage.world.pass(9 * 60_000);
  assert.equal((await shop(visitor, "GET basket")).words.phase, "browsing");
});

test("a shop token is good in its room alone", async (t) => {
  const stage = await openShopStage(t, {
    room: { path: "/a" },
    rooms: { other: { path: "/b", totalActiveUsers: 10, shop: "tickets" } },
  });
  const visitor = await stage.shopper("/a");
  await shop(visitor, "POST holds", SEAT);
  const token = visitor.cookies.get("fairgate_main_shop")!;
  const stranger = stage.visitor();
  stranger.cookies.set("fairgate_other_shop", token);
  assert.equal((await shop(stranger, "GET basket", { room: "other" })).status, 403);
  assert.equal((await shop(visitor, "POST holds", { ...SEAT, room: "other" })).status, 403);
});

test("a token that is bound to a browser is no good in another", async (t) => {
  const stage = await openShopStage(t, { room: { abuse: { bindTickets: "userAgent" } } });
  const visitor = stage.visitor();
  const mine = { "user-agent": "Mozilla/5.0 (mine)" };
  await visitor.open("/", mine);
  assert.equal((await shop(visitor, "POST holds", { ...SEAT, headers: mine })).status, 201);
  visitor.cookies.delete("fairgate_main");
  assert.equal((await shop(visitor, "GET basket", { headers: mine })).status, 200);
  assert.equal((await shop(visitor, "GET basket", { headers: { "user-agent": "theirs" } })).status, 403);
});

test(
  proves(["ce8"], "who comes back with a new pass has the basket they left, and no second one"),
  async (t) => {
    const stage = await openShopStage(t, { room: { sessionDuration: "1m", formGrace: "0ms" } });
    const visitor = await stage.shopper();
    await shop(visitor, "POST holds", SEAT);
    stage.world.pass(2 * 60_000);
    await visitor.open();
    const added = await shop(visitor, "POST holds", { json: { product: "pair" } });
    assert.deepEqual([added.status, (added.words.holds as unknown[]).length], [201, 2]);
    // Once it is over, the new visit has its own.
    await shop(visitor, "POST leave");
    const fresh = await shop(visitor, "POST holds", SEAT);
    assert.deepEqual([fresh.status, (fresh.words.holds as unknown[]).length], [201, 1]);
    assert.equal((await shop(visitor, "GET basket")).words.phase, "browsing");
  },
);

test("one visit shops once: after it has left or bought, its pass gets no other basket", async (t) => {
  const stage = await openShopStage(t);
  const visitor = await stage.shopper();
  await shop(visitor, "POST holds", SEAT);
  await shop(visitor, "POST leave");
  const again = await shop(visitor, "POST holds", SEAT);
  assert.deepEqual([again.status, again.words.reason], [410, "expired"]);
});

test("programs carry the shop token in a header", async (t) => {
  const stage = await openShopStage(t);
  const program = stage.visitor();
  const json = { accept: "application/json" };
  const first = await program.ask("/", { headers: { ...json, "fairgate-token": "new" } });
  const pass = String(first.headers["fairgate-token"]);
  const { status, answer } = await shop(program, "POST holds", {
    ...SEAT,
    headers: { "fairgate-token": pass },
  });
  assert.equal(status, 201);
  assert.equal(answer.headers["set-cookie"], undefined);
  const token = String(answer.headers["fairgate-shop"]);
  const seen = await shop(stage.visitor(), "GET basket", { headers: { "fairgate-shop": token } });
  assert.deepEqual([seen.status, (seen.words.holds as unknown[]).length], [200, 1]);
});

test("pages of other sites neither act nor look, unless they are named", async (t) => {
  const stage = await openShopStage(t, { room: { corsOrigins: ["https://app.example.com"] } });
  const visitor = await stage.shopper();
  for (const call of CALLS)
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }])
      assert.equal((await shop(visitor, call, { ...SEAT, headers })).status, 403, call);
  const origin = "https://app.example.com";
  const named = await shop(visitor, "POST holds", {
    ...SEAT,
    headers: { origin, "sec-fetch-site": "cross-site" },
  });
  assert.equal(named.status, 201);
  assert.equal(named.answer.headers["access-control-allow-origin"], origin);
  const preflight = await visitor.ask("/.fairgate/main/shop/holds/x", {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "DELETE" },
  });
  assert.equal(preflight.status, 204);
  assert.match(String(preflight.headers["access-control-allow-methods"]), /DELETE/);
  assert.match(String(preflight.headers["access-control-allow-headers"]), /Idempotency-Key/);
});

test("each address has its methods, and there are no others", async (t) => {
  const stage = await openShopStage(t, { rooms: { plain: { path: "/plain", totalActiveUsers: 1 } } });
  const visitor = await stage.shopper();
  const allowed = { holds: "POST", basket: "GET", "holds/x": "DELETE", "waiting-list/x": "POST, DELETE" };
  for (const [path, allow] of Object.entries(allowed)) {
    const { status, answer } = await shop(visitor, `PUT ${path}`);
    assert.deepEqual([status, answer.headers.allow], [405, allow], path);
  }
  for (const path of [
    "",
    "nothing",
    "holds/",
    "holds/x/y",
    "holds/%zz",
    "basket/x",
    "holds/x/items/y",
    "../board",
  ])
    assert.equal((await shop(visitor, `GET ${path}`)).status, 404, path);
  assert.equal((await shop(visitor, "GET basket", { room: "plain" })).status, 404);
  assert.equal((await shop(visitor, "GET basket", { room: "nowhere" })).status, 404);
});

test("a body is JSON of at most 16 KB, and one that is larger is refused whole", async (t) => {
  const stage = await openShopStage(t);
  const visitor = await stage.shopper();
  const path = "/.fairgate/main/shop/holds";
  const send = (body: string, headers: object = { "content-type": "application/json" }) =>
    visitor.ask(path, { method: "POST", body, headers: headers as Record<string, string> });
  const fits = JSON.stringify(SEAT.json).padEnd(CALL_BYTES_MAX, " ");
  assert.equal((await send(fits)).status, 201);
  assert.equal((await send(`${fits} `)).status, 413);
  const chunked = { "content-type": "application/json", "transfer-encoding": "chunked" };
  assert.equal((await send(fits, chunked)).status, 201);
  assert.equal((await send(`${fits} `, chunked)).status, 413);
  assert.equal((await send("{", { "content-type": "application/json; charset=utf-8" })).status, 422);
  assert.equal((await send("\xff\xfe")).status, 422);
  assert.equal((await send("{}", { "content-type": "text/plain" })).status, 415);
  assert.equal((await send("")).status, 422);
  assert.deepEqual(stage.errors(), []);
});

test("a body that comes too slowly is given up", async (t) => {
  const stage = await openShopStage(t);
  const visitor = await stage.shopper();
  const { port } = stage;
  const headers = { "content-type": "application/json", "content-length": "100", cookie: visitor.cookie };
  const request = http.request({ port, path: "/.fairgate/main/shop/holds", method: "POST", headers });
  const answered = once(request, "response");
  request.write("{");
  await until(() => stage.underWay() > 0, "the request");
  stage.world.pass(120_000);
  const [answer] = (await answered) as [IncomingMessage];
  assert.equal(answer.statusCode, 408);
  request.destroy();
});

test("calls are counted by visitor and by address, and too many are refused until later", async (t) => {
  const stage = await openShopStage(t, { shopSettings: { callsPerVisitorMax: 3, callsPerAddressMax: 5 } });
  const [one, two] = [await stage.shopper(), await stage.shopper()];
  const calls = stage.desk.calls;
  for (let call = 0; call < 3; call++) assert.equal((await shop(one, "GET basket")).status, 200);
  const { status, words, answer } = await shop(one, "GET basket");
  assert.deepEqual([status, words.reason, answer.headers["retry-after"]], [429, "tooManyCalls", "20"]);
  assert.equal(calls.basket, 3);
  for (let call = 0; call < 2; call++) assert.equal((await shop(two, "GET basket")).status, 200);
  assert.equal((await shop(two, "GET basket")).status, 429);
  stage.world.pass(20_000);
  assert.equal((await shop(one, "GET basket")).status, 200);
});

const tokenFor = (claims: object, secret = CUSTOMER_SECRET, expiresAt = Date.UTC(2040)) =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime(expiresAt / 1_000)
    .sign(new TextEncoder().encode(secret));

async function customerStage(t: Parameters<typeof openShopStage>[0], required: boolean) {
  const folder = mkdtempSync(join(tmpdir(), "fairgate-customers-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const secretFile = join(folder, "secret");
  writeFileSync(secretFile, CUSTOMER_SECRET);
  return openShopStage(t, {
    shopSettings: { customer: { required, secretFile, cookie: "customer" } },
    catalogue: {
      currency: "EUR",
      products: { seat: { stock: 10, price: 100, limitPerCustomer: 2 } },
      policies: TEN_SEATS.policies!,
    },
  });
}

test(proves(["cs4"], "a customer's limits count over all their visits"), async (t) => {
  const stage = await customerStage(t, false);
  const headers = { "fairgate-customer": await tokenFor({ sub: "anna" }) };
  const [one, two] = [await stage.shopper(), await stage.shopper()];
  assert.equal((await shop(one, "POST holds", { json: { product: "seat", count: 2 }, headers })).status, 201);
  const more = await shop(two, "POST holds", { ...SEAT, headers });
  assert.deepEqual([more.status, more.words.reason], [409, "limitReached"]);
  // The claim stays with the visit that brought it.
  assert.equal((await shop(one, "POST holds", SEAT)).words.reason, "limitReached");
  // In a cookie of the site it is as good.
  two.cookies.set("customer", await tokenFor({ sub: "berta" }));
  assert.equal((await shop(two, "POST holds", SEAT)).status, 201);
  // And nobody has anything to do with a visit by the name of one.
  assert.equal((await shop(await stage.shopper(), "POST holds", SEAT)).status, 201);
});

test("a customer's token that is not good is refused, and not taken for none", async (t) => {
  const stage = await customerStage(t, false);
  const visitor = await stage.shopper();
  const before = { ...stage.desk.calls };
  const bad = {
    forged: await tokenFor({ sub: "anna" }, "another-secret-of-the-tests-that-is-as-long"),
    expired: await tokenFor({ sub: "anna" }, CUSTOMER_SECRET, Date.UTC(2020)),
    malformed: "anna",
    claim: await tokenFor({ name: "anna" }),
  };
  for (const [why, token] of Object.entries(bad)) {
    const headers = { "fairgate-customer": token };
    const { status, words } = await shop(visitor, "POST holds", { ...SEAT, headers });
    assert.deepEqual([status, words.reason, words.why], [403, "customerUnknown", why]);
  }
  for (const sub of ["", "visit:abc", "x".repeat(300), ["a"], true]) {
    const headers = { "fairgate-customer": await tokenFor({ sub }) };
    assert.equal((await shop(visitor, "POST holds", { ...SEAT, headers })).status, 403, String(sub));
  }
  assert.deepEqual(stage.desk.calls, before);
});

test("where customers are needed, nobody else takes anything", async (t) => {
  const stage = await customerStage(t, true);
  const visitor = await stage.shopper();
  const { status, words } = await shop(visitor, "POST holds", SEAT);
  assert.deepEqual([status, words.reason], [403, "customerNeeded"]);
  const headers = { "fairgate-customer": `Bearer ${await tokenFor({ sub: 42 })}` };
  assert.equal((await shop(visitor, "POST holds", { ...SEAT, headers })).status, 201);
  assert.equal((await shop(visitor, "GET basket")).status, 200);
});
