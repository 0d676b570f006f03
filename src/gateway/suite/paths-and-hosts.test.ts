/** What is routed is what is sent: paths and hosts over real sockets, as a proxy, for upgrades and as middleware. */
import assert from "node:assert/strict";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import express from "express";
import type { SettingsInput } from "../../config/schema.ts";
import { createGateway } from "../../index.ts";
import { openStage, STAGE_SECRET, type Stage, TLS } from "../../testing/gateway/stage.ts";
import { talk } from "../../testing/gateway/visitor.ts";
import { createRouter } from "../route.ts";

const PAUSED = { totalActiveUsers: 1, paused: true };
const TICKETS = { tickets: { path: "/tickets", additionalRoutes: [{ path: "/café" }], ...PAUSED } };
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Targets outside of the room, as they come and as they are sent. Null: refused. */
const SENT: Readonly<Record<string, string | null>> = {
  "/open": "/open",
  "/open?a=//../%2e;": "/open?a=//../%2e;",
  "/tickets//../buy": "/buy",
  "/tickets/..": "/",
  "/tickets/%2e%2e": "/",
  "/tickets/x\\..\\..": "/",
  "/tickets/x/../../?q=/tickets": "/?q=/tickets",
  "//a///b//": "/a/b/",
  "/%61%2fb%5cc;d=%7e": "/a%2Fb%5Cc;d=~",
  "/100%25": "/100%25",
  "/tickets%2fx%5c..%5c": null,
  "/a/..;/b": null,
  "/%": null,
  "/%00": null,
  "/%c0%af": null,
};

const get = (target: string, headers = "") =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nConnection: close\r\n${headers}\r\n`;

/** Sends every target, and tells what the site got of each. */
async function sentBy(
  send: (target: string) => Promise<string>,
  seen: readonly { readonly url: string }[],
): Promise<Record<string, string | null>> {
  const sent: Record<string, string | null> = {};
  for (const target of Object.keys(SENT)) {
    const before = seen.length;
    const answer = await send(target);
    sent[target] = seen[before]?.url ?? null;
    assert.equal(/^HTTP\/1\.1 400 /.test(answer), sent[target] === null, `${target}: ${answer}`);
  }
  return sent;
}

test("a path is sent in the form in which it was routed, as a request, an upgrade and middleware alike", async (t) => {
  const stage = await openStage(t, { settings: { rooms: TICKETS } });
  const { seen } = stage.origin;
  assert.deepEqual(await sentBy((target) => talk(stage.port, get(target)), seen), SENT);
  const upgrade = "GET @ HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  assert.deepEqual(
    await sentBy(
      (target) =>
        talk(
          stage.port,
          upgrade.replace("@", () => target),
        ),
      seen,
    ),
    SENT,
  );
  const app = await openApp(t, { rooms: TICKETS });
  assert.deepEqual(await sentBy((target) => talk(app.port, get(target)), app.seen), SENT);
  const router = createRouter(stage.settings());
  for (const [target, sent] of Object.entries(SENT)) {
    const routed = router.route("a", target);
    assert.equal("status" in routed ? null : routed.target, sent, target);
  }
});

test("no spelling in HTTP/2 passes a room with a name beyond ASCII", async (t) => {
  const stage = await openStage(t, { settings: { rooms: TICKETS, tls: TLS } });
  const session = http2.connect(`https://localhost:${stage.port}`, { rejectUnauthorized: false });
  t.after(() => session.destroy());
  const bytes = Buffer.from("/café", "utf8").toString("latin1");
  const status = (path: string) =>
    new Promise((resolve) => {
      const stream = session.request({ ":path": path, accept: "application/json" });
      stream
        .on("response", (headers) => resolve(headers[":status"]))
        .on("error", resolve)
        .resume()
        .end();
    });
  for (const path of [bytes, `${bytes}/x`, `/x/..${bytes}`, "/caf%c3%a9", "/CAF%C3%89", "/cafe%CC%81"])
    assert.equal(await status(path), 429, path);
  assert.equal(await status("/caf\xe9"), 400);
  assert.equal(stage.origin.seen.length, 0);
  assert.equal(await status(`/x${bytes}`), 200);
  assert.equal(stage.origin.seen[0]!.url, "/x/caf%C3%A9");
});

test("where no room has a path the target goes on byte for byte", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 50 }, settings: { oddPaths: "refuse" } });
  for (const target of [...Object.keys(SENT), "/x/../y", "/\\a\\..", "//"]) {
    await talk(stage.port, get(target));
    assert.equal(stage.origin.seen.at(-1)!.url, target);
  }
});

test("`oddPaths: refuse` answers with a line that says what is odd", async (t) => {
  const stage = await openStage(t, { settings: { rooms: TICKETS, oddPaths: "refuse" } });
  const answer = await talk(stage.port, get("/a/../b"));
  assert.match(answer, /^HTTP\/1\.1 400 [\s\S]*\r\n\r\npath with a dot segment\n$/);
  assert.match(await talk(stage.port, get("/b")), /the site$/);
});

test("an odd spelling of an address of ours is ours", async (t) => {
  const stage = await openStage(t, { settings: { rooms: TICKETS } });
  for (const target of ["/%2efairgate/tickets/board", "/x/../.fairgate/tickets/board?x"])
    assert.match(await talk(stage.port, get(target)), /^HTTP\/1\.1 200 [\s\S]*"room":"tickets"/, target);
  for (const target of ["/.fairgate//tickets/board", "/x/../.fairgate/nowhere"])
    assert.match(await talk(stage.port, get(target)), /^HTTP\/1\.1 404 /, target);
  assert.equal(stage.origin.seen.length, 0);
});

test("a rule for one path lets no other past", async (t) => {
  const rooms = { main: { ...PAUSED, bypass: [{ path: ["/assets"], methods: ["GET"] }] } };
  for (const settings of [{ rooms }, { rooms: { ...rooms, other: { path: "/other", ...PAUSED } } }]) {
    const stage = await openStage(t, { settings });
    for (const target of [
      "/assets/../buy",
      "/assets%2f..%2fbuy",
      "/assets/..;/buy",
      "/assets;x",
      "/ASSETS",
      "//assets/../x",
    ])
      await talk(stage.port, get(target));
    await talk(stage.port, get("/assets/x", "X-HTTP-Method-Override: POST\r\n"));
    assert.deepEqual(stage.origin.seen, []);
    await talk(stage.port, get("/assets/x"));
    assert.equal(stage.origin.seen.length, 1);
  }
});

test("a header names no other path to the site", async (t) => {
  const stage = await openStage(t, { settings: { rooms: TICKETS, trustedProxies: ["127.0.0.1"] } });
  const app = await openApp(t, { rooms: TICKETS });
  const headers = [
    "X-Original-URL",
    "X-Rewrite-URL",
    "X_Original_URL",
    "X-Script-Name",
    "SCRIPT_NAME",
    "Path-Info",
  ];
  const lines = headers.map((name) => `${name}: /tickets\r\n`).join("");
  for (const { port, seen } of [{ port: stage.port, seen: stage.origin.seen }, app]) {
    await talk(port, get("/open", lines));
    assert.ok(!JSON.stringify(seen.at(-1)).includes("/tickets"), JSON.stringify(seen.at(-1)));
  }
});

test("below a mount point the app gets what is left of the plain path, and nothing that leads away from it", async (t) => {
  const gateway = await createGateway({ secret: STAGE_SECRET, log: SILENT, rooms: TICKETS });
  t.after(() => gateway.close());
  const app = express();
  const got: string[] = [];
  app.use("/shop", gateway.middleware, (request, response) => {
    got.push(`${request.baseUrl} ${request.url} ${request.originalUrl}`);
    response.send("the site");
  });
  const port = await listening(t, app);
  for (const target of ["/shop//a/./b?x=//", "/shop", "/shop?y", "/shop/x/..", "/SHOP/%61"])
    assert.match(await talk(port, get(target)), /the site$/, target);
  assert.deepEqual(got, [
    "/shop /a/b?x=// /shop/a/b?x=//",
    "/shop / /shop",
    "/shop /?y /shop?y",
    "/shop / /shop/",
    "/SHOP /a /SHOP/a",
  ]);
  for (const target of ["/shop/../tickets", "/shop/../x", "/shop/..", "/shop/..;/tickets"])
    assert.doesNotMatch(await talk(port, get(target)), /the site/, target);
});

const HOSTS: SettingsInput["rooms"] = { shop: { host: "shop.example.com", ...PAUSED } };

async function statusOf(stage: Stage, lines: string): Promise<number> {
  return Number(
    /^HTTP\/1\.1 (\d+)/.exec(await talk(stage.port, `${lines}\r\nAccept: application/json\r\n\r\n`))?.[1],
  );
}

test("a room that is bound to a host is not left by another spelling of it", async (t) => {
  const stage = await openStage(t, { settings: { rooms: HOSTS } });
  const host = (name: string) => `GET / HTTP/1.1\r\nConnection: close\r\nHost: ${name}`;
  for (const name of [
    "shop.example.com",
    "SHOP.example.com",
    "shop.example.com.",
    "shop.example.com:99",
    "Shop.Example.Com.:1",
  ])
    assert.equal(await statusOf(stage, host(name)), 429, name);
  for (const name of [
    "shop.example.com..",
    "shop..example.com",
    "a@shop.example.com",
    "%73hop.example.com",
    "shop.example.com:x",
    "",
  ])
    assert.equal(await statusOf(stage, host(name)), 400, name);
  for (const name of [
    "www.example.com",
    "127.0.0.1",
    "[::1]",
    "shop.example.com.evil.example",
    "shop_example_com",
  ])
    assert.equal(await statusOf(stage, host(name)), 421, name);
  const others = {
    "GET / HTTP/1.0": 421,
    "GET http://shop.example.com/ HTTP/1.0": 400,
    "GET http://other.example/ HTTP/1.1\r\nConnection: close\r\nHost: shop.example.com": 400,
    "GET http://shop.example.com/ HTTP/1.1\r\nConnection: close\r\nHost: other.example": 400,
    "GET http://a@shop.example.com/ HTTP/1.1\r\nConnection: close\r\nHost: other.example": 400,
    "GET / HTTP/1.1\r\nConnection: close\r\nHost: other.example\r\nHost: shop.example.com": 400,
    "GET / HTTP/1.1\r\nConnection: close\r\nHost: other.example\r\nX-Forwarded-Host: shop.example.com": 421,
    "GET / HTTP/1.1\r\nHost: other.example\r\nConnection: Upgrade\r\nUpgrade: websocket": 421,
    "GET / HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket": 421,
  };
  for (const [lines, status] of Object.entries(others))
    assert.equal(await statusOf(stage, lines), status, lines);
  assert.equal(stage.origin.seen.length, 0);
});

test("`otherHosts: pass` sends hosts that no room is for to the origin", async (t) => {
  const stage = await openStage(t, { settings: { rooms: HOSTS, otherHosts: "pass" } });
  assert.equal(
    await statusOf(stage, "GET /x/../y HTTP/1.1\r\nConnection: close\r\nHost: www.example.com"),
    200,
  );
  assert.equal(stage.origin.seen[0]!.url, "/x/../y");
  assert.equal(await statusOf(stage, "GET / HTTP/1.1\r\nConnection: close\r\nHost: shop.example.com"), 429);
});

test("behind a proxy that hands on a visitor's X-Forwarded-Host, the room is the Host's", async (t) => {
  const rooms = { ...HOSTS, open: { host: "open.example.com", totalActiveUsers: 50 } };
  const stage = await openStage(t, { settings: { rooms, trustedProxies: ["127.0.0.1"] } });
  const usual = "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https";
  for (const claim of [
    "X-Forwarded-Host: open.example.com",
    "Forwarded: for=203.0.113.9;host=open.example.com",
  ]) {
    const lines = `GET / HTTP/1.1\r\nConnection: close\r\nHost: shop.example.com\r\n${usual}\r\n${claim}`;
    assert.equal(await statusOf(stage, lines), 429, claim);
  }
  assert.equal(stage.origin.seen.length, 0);
  // And a visitor of one room cannot tell the origin another host.
  const lines = `GET / HTTP/1.1\r\nConnection: close\r\nHost: open.example.com\r\n${usual}`;
  const claims =
    "X-Forwarded-Host: shop.example.com\r\nForwarded: for=1.1.1.1;host=shop.example.com\r\nX-Host: shop.example.com";
  assert.equal(await statusOf(stage, `${lines}\r\n${claims.split("\r\n").slice(0, 2).join("\r\n")}`), 200);
  const { headers } = stage.origin.seen[0]!;
  assert.equal(headers.host, "open.example.com");
  assert.ok(!JSON.stringify(headers).includes("shop.example.com"), JSON.stringify(headers));
});

test("with `forwardedHost` the host that a trusted proxy sets finds the room, and the origin gets it", async (t) => {
  const rooms = { ...HOSTS, open: { host: "open.example.com", totalActiveUsers: 50 } };
  const settings = { rooms, trustedProxies: ["127.0.0.1"], forwardedHost: true };
  const stage = await openStage(t, { settings });
  const ask = (host: string) =>
    statusOf(stage, `GET / HTTP/1.1\r\nConnection: close\r\nHost: inner\r\nX-Forwarded-Host: ${host}`);
  assert.equal(await ask("shop.example.com"), 429);
  assert.equal(await ask("open.example.com"), 200);
  const { headers } = stage.origin.seen[0]!;
  assert.deepEqual([headers.host, headers["x-forwarded-host"]], ["open.example.com", "open.example.com"]);
  // What a proxy adds to a visitor's own claim comes last.
  assert.equal(await ask("open.example.com, shop.example.com"), 429);
  assert.equal(await statusOf(stage, "GET / HTTP/1.1\r\nConnection: close\r\nHost: inner"), 421);
});

test("as middleware the app is told the host that was routed", async (t) => {
  const rooms = { ...HOSTS, open: { host: "open.example.com", totalActiveUsers: 50 } };
  const app = await openApp(t, { rooms });
  const at = (host: string, more: string) =>
    talk(
      app.port,
      `GET / HTTP/1.1\r\nConnection: close\r\nHost: ${host}\r\nAccept: application/json\r\n${more}\r\n\r\n`,
    );
  const claims = "X-Forwarded-Host: shop.example.com\r\nForwarded: for=1.1.1.1;host=shop.example.com";
  assert.match(await at("open.example.com", claims), /^HTTP\/1\.1 200 /);
  const { headers } = app.seen[0]!;
  assert.deepEqual([headers.host, headers["x-forwarded-host"]], ["open.example.com", "open.example.com"]);
  assert.equal(headers.forwarded, undefined);
  assert.match(await at("shop.example.com..", "A: b"), /^HTTP\/1\.1 400 /);
  assert.match(await at("other.example", "A: b"), /^HTTP\/1\.1 421 /);
  assert.match(await talk(app.port, "GET / HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 421 /);
});

interface App {
  readonly port: number;
  readonly seen: { readonly url: string; readonly headers: http.IncomingHttpHeaders }[];
}

/** An app behind the gateway as middleware, which notes what it gets. */
async function openApp(t: TestContext, settings: Pick<SettingsInput, "rooms">): Promise<App> {
  const gateway = await createGateway({ secret: STAGE_SECRET, log: SILENT, ...settings });
  t.after(() => gateway.close());
  const seen: App["seen"] = [];
  const port = await listening(t, (request, response) => {
    gateway.middleware(request, response, () => {
      seen.push({ url: request.url!, headers: request.headers });
      response.end("the site");
    });
  });
  return { port, seen };
}

async function listening(t: TestContext, listener: http.RequestListener): Promise<number> {
  const server = http.createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
