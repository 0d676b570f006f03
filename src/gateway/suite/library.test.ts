/** Fairgate inside a Node program: as a handler in front of an origin, and as middleware in front of an app. */
import assert from "node:assert/strict";
import http, { type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type TestContext, test } from "node:test";
import express, { type Express } from "express";
import { createGateway, type GatewayOptions, type RunningGateway } from "../../index.ts";
import { openOrigin, STAGE_SECRET } from "../../testing/gateway/stage.ts";
import { assertWaitingPage, talk, Visitor } from "../../testing/gateway/visitor.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

async function openGateway(t: TestContext, options: Partial<GatewayOptions> = {}): Promise<RunningGateway> {
  const gateway = await createGateway({
    secret: STAGE_SECRET,
    log: SILENT,
    rooms: { main: { totalActiveUsers: 1 } },
    ...options,
  });
  t.after(() => gateway.close());
  return gateway;
}

async function serve(t: TestContext, handler: RequestListener, upgrade?: RunningGateway["upgrade"]) {
  const server = http.createServer(handler);
  if (upgrade) server.on("upgrade", upgrade);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, visitor: () => new Visitor(port, t) };
}

/** An app that says "the site" and shows what it was told. */
function guardedApp(gateway: RunningGateway): { app: Express; seen: express.Request["headers"][] } {
  const seen: express.Request["headers"][] = [];
  const app = express();
  app.use(gateway.middleware);
  app.get("/told", (request, response) => {
    seen.push({ ...request.headers });
    response.send("the site");
  });
  app.use((_request, response) => {
    response.send("the site");
  });
  return { app, seen };
}

test("as a handler it stands in front of an origin", async (t) => {
  const origin = await openOrigin(t);
  const gateway = await openGateway(t, { origin: { addresses: [origin.address] } });
  const { port, visitor } = await serve(t, gateway.handler, gateway.upgrade);
  const first = visitor();
  assert.ok(await first.isIn());
  assert.equal(origin.seen[0]!.headers["fairgate-room"], "main");
  const second = visitor();
  assertWaitingPage(await second.open());
  assert.equal((await second.call("check-in")).status, "waiting");
  const upgrade = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  assert.match(await talk(port, upgrade), /^HTTP\/1\.1 429 /);
  assert.equal((await gateway.engine.counts("main")).onSite, 1);
});

test("as a handler without an origin it answers 404", async (t) => {
  const gateway = await openGateway(t, { rooms: { main: { totalActiveUsers: 5 } } });
  const { port, visitor } = await serve(t, gateway.handler, gateway.upgrade);
  assert.equal((await visitor().open()).status, 404);
  const upgrade = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  assert.match(await talk(port, upgrade), /^HTTP\/1\.1 404 /);
});

test("as a handler it refuses an upgrade that could carry requests past it, or to an address of its own", async (t) => {
  const origin = await openOrigin(t);
  const rooms = { main: { path: "/tickets", totalActiveUsers: 1 } };
  const gateway = await openGateway(t, { origin: { addresses: [origin.address] }, rooms });
  const { port } = await serve(t, gateway.handler, gateway.upgrade);
  const upgrade = (path: string, headers: string) =>
    talk(port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n${headers}\r\n\r\n`);
  assert.match(await upgrade("/", "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk"), /^HTTP\/1\.1 400 /);
  assert.match(await upgrade("/", "Upgrade: websocket\r\nHost: b"), /^HTTP\/1\.1 400 /);
  assert.match(await upgrade("/", "Upgrade: websocket\r\nContent-Length: 1"), /^HTTP\/1\.1 400 /);
  assert.match(await upgrade("http://b/", "Upgrade: websocket"), /^HTTP\/1\.1 400 /);
  assert.match(await upgrade("/.fairgate/main/board", "Upgrade: websocket"), /^HTTP\/1\.1 404 /);
  assert.equal(origin.seen.length, 0);
});

test("an upgrade whose sender is gone before the refusal does not end the process", async (t) => {
  const gateway = await openGateway(t, { rooms: { main: { totalActiveUsers: 1, paused: true } } });
  const sockets: Duplex[] = [];
  const { port } = await serve(t, gateway.handler, (request, socket, head) => {
    sockets.push(socket);
    gateway.upgrade(request, socket, head);
  });
  await talk(port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  assert.equal(sockets.length, 1);
  // Without a listener this would be thrown.
  sockets[0]!.emit("error", new Error("write ECONNRESET"));
});

test("as Express middleware it guards the app behind it", async (t) => {
  const gateway = await openGateway(t);
  const { app, seen } = guardedApp(gateway);
  const { visitor } = await serve(t, app);
  const first = visitor();
  first.cookies.set("own", "1");
  assert.ok(await first.isIn("/told"));
  assert.ok(await first.isIn("/told"));
  const second = visitor();
  assertWaitingPage(await second.open("/told"));
  assert.equal((await second.call("join")).status, "waiting");
  assert.equal((await visitor().ask("/.fairgate/main/board")).status, 200);
  assert.equal(seen.length, 2);
  for (const headers of seen) {
    assert.equal(headers.cookie, "own=1");
    assert.equal(headers["fairgate-room"], "main");
    assert.match(headers["fairgate-visitor"] as string, /^[0-9a-f]{32}$/);
  }
  await first.call("leave");
  assert.ok(!first.cookies.has("fairgate_main"));
});

test("the app cannot be told lies about the visitor", async (t) => {
  const gateway = await openGateway(t);
  const { app, seen } = guardedApp(gateway);
  const { visitor } = await serve(t, app);
  await visitor().open("/told", {
    "Fairgate-Visitor": "0".repeat(32),
    Fairgate_Room: "vip",
    "Fairgate-Pass": "x",
  });
  const [headers] = seen;
  assert.equal(headers!["fairgate-room"], "main");
  assert.notEqual(headers!["fairgate-visitor"], "0".repeat(32));
  assert.equal(headers!["fairgate-pass"], undefined);
  assert.equal(headers!.fairgate_room, undefined);
});

test("mounted under a path it finds the room by the whole address and leaves the app its own", async (t) => {
  const gateway = await openGateway(t, {
    rooms: { drop: { path: "/drop", totalActiveUsers: 1 }, rest: { path: "/", totalActiveUsers: 5 } },
  });
  const app = express();
  const urls: string[] = [];
  app.use("/.fairgate", gateway.middleware);
  app.use("/drop", gateway.middleware, (request, response) => {
    urls.push(`${request.baseUrl} ${request.url} ${request.headers["fairgate-room"]}`);
    response.send("the site");
  });
  app.use((_request, response) => {
    response.send("unguarded");
  });
  const { visitor } = await serve(t, app);
  const first = visitor();
  assert.ok(await first.isIn("/drop/1?x=2"));
  assert.deepEqual(urls, ["/drop /1?x=2 drop"]);
  const second = visitor();
  assertWaitingPage(await second.open("/drop/1"));
  assert.equal((await second.call("check-in", { room: "drop" })).status, "waiting");
  assert.equal((await visitor().open("/other")).text, "unguarded");
});

test("whatever the app sets, the visitor gets the pass, and no shared cache may keep it", async (t) => {
  const gateway = await openGateway(t, { rooms: { main: { totalActiveUsers: 50, newcomerDuration: "1d" } } });
  const app = express();
  app.use(gateway.middleware);
  app.get("/set", (_request, response) => {
    response.setHeader("Set-Cookie", "own=1");
    response.setHeader("Cache-Control", "public, max-age=600").send("the site");
  });
  app.get("/write-head", (_request, response) => {
    response.writeHead(201, "Made", { "Set-Cookie": ["own=1"], "Cache-Control": "public", "X-A": "1" }).end();
  });
  app.get("/write-list", (_request, response) => {
    response
      .writeHead(200, ["Set-Cookie", "own=1", "X-A", "1", "X-A", "2", "CDN-Cache-Control", "max-age=9"])
      .end();
  });
  app.get("/bare", (_request, response) => {
    response.end("the site");
  });
  const { visitor } = await serve(t, app);
  for (const path of ["/set", "/write-head", "/write-list", "/bare"]) {
    const someone = visitor();
    const answer = await someone.open(path);
    assert.ok(someone.token(), path);
    if (path !== "/bare") assert.equal(someone.cookies.get("own"), "1", path);
    assert.match(answer.headers["cache-control"]!, /^private(?!.*public)/, path);
    assert.equal(answer.headers["cdn-cache-control"], undefined);
    if (path === "/write-head") assert.deepEqual([answer.status, answer.headers["x-a"]], [201, "1"]);
    if (path === "/write-list") assert.equal(answer.headers["x-a"], "1, 2");
    const again = await someone.open(path);
    assert.match(again.headers["cache-control"]!, /^private(?!.*public)/, `${path} again`);
    assert.equal(again.headers["cdn-cache-control"], undefined);
    assert.equal(again.headers["set-cookie"]?.length, path === "/bare" ? undefined : 1);
  }
});

test("an app's own error handler hears of nothing, and its body parsers see whole bodies", async (t) => {
  const gateway = await openGateway(t);
  const app = express();
  app.use(gateway.middleware, express.json(), (request, response) => {
    response.send(request.body);
  });
  const { visitor } = await serve(t, app);
  const headers = { "content-type": "application/json", accept: "text/html" };
  const body = JSON.stringify({ list: "x".repeat(50_000) });
  assert.equal((await visitor().ask("/", { method: "POST", headers, body })).text, body);
  assert.equal((await visitor().ask("/", { method: "POST", headers, body })).status, 429);
});

test("settings that are not right throw one Error that names every problem", async () => {
  const input = {
    secret: "short",
    rooms: {
      main: { totalActiveUser: 5, path: "no-slash" },
      page: { totalActiveUsers: 1, path: "/p", page: { customPageHtml: "{{nosuch}}" } },
    },
  };
  await assert.rejects(createGateway(input as unknown as GatewayOptions), (error: Error) => {
    for (const part of ["secret", "totalActiveUser", "totalActiveUsers", "no-slash", "nosuch"])
      assert.match(error.message, new RegExp(part), part);
    return true;
  });
});

test("closing a gateway leaves an engine of one's own running", async (t) => {
  const own = await openGateway(t);
  const gateway = await createGateway({
    secret: STAGE_SECRET,
    log: SILENT,
    rooms: { main: { totalActiveUsers: 1 } },
    engine: own.engine,
  });
  await gateway.close();
  assert.equal((await own.engine.join("main")).kind, "entered");
});
