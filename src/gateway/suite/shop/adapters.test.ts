/** A body that the gateway asks for, read by each adapter: on Node over HTTP/1.1 and HTTP/2, as middleware, and by the Fetch API. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http, { type RequestListener } from "node:http";
import http2, { type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import express from "express";
import { TLS } from "../../../testing/gateway/stage.ts";
import { PAGE, talk, Visitor } from "../../../testing/gateway/visitor.ts";
import { openShopStage, type ShopStage, shop } from "../../../testing/shop/shopper.ts";
import { asMiddleware } from "../../adapters/connect.ts";
import { FetchAdapter } from "../../adapters/fetch.ts";
import { CALL_BYTES_MAX } from "../../shop/shop-endpoints.ts";

const SEAT = { json: { product: "seat" } };
const HOLDS = "/.fairgate/main/shop/holds";

async function serve(t: TestContext, handler: RequestListener): Promise<Visitor> {
  const server = http.createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return new Visitor((server.address() as AddressInfo).port, t);
}

/** Shops as on any other server, and is refused what is too large. */
async function shops(visitor: Visitor): Promise<void> {
  assert.equal(await visitor.isIn(), true);
  const held = await shop(visitor, "POST holds", SEAT);
  assert.deepEqual([held.status, held.words.total], [201, 4_500]);
  const headers = { "content-type": "application/json" };
  const body = " ".repeat(CALL_BYTES_MAX + 1);
  assert.equal((await visitor.ask(HOLDS, { method: "POST", body, headers })).status, 413);
  const chunked = { ...headers, "transfer-encoding": "chunked" };
  assert.equal((await visitor.ask(HOLDS, { method: "POST", body, headers: chunked })).status, 413);
  assert.equal((await visitor.ask(HOLDS, { method: "POST", body: "{", headers })).status, 422);
  const id = (held.words.made as string[])[0]!;
  assert.equal((await shop(visitor, `DELETE holds/${encodeURIComponent(id)}`)).status, 200);
  assert.equal((await shop(visitor, "POST leave")).words.phase, "departed");
  const reader = await visitor.listen("main/shop");
  await reader.heard("products");
}

test("Express and Connect: also where something before has read the body, which is then nothing", async (t) => {
  const stage = await openShopStage(t);
  const { proxied, world } = stage;
  const app = express();
  app.use(asMiddleware(proxied.adapter, world));
  app.use((_request, response) => void response.send("the site"));
  await shops(await serve(t, app));
  const early = express();
  early.use(express.json());
  early.use(asMiddleware(proxied.adapter, world));
  early.use((_request, response) => void response.send("the site"));
  const visitor = await serve(t, early);
  await visitor.open();
  assert.equal((await shop(visitor, "POST holds", SEAT)).status, 422);
});

/** A server of the Fetch API on `node:http`. */
function fetchHandler({ proxied, world }: ShopStage): RequestListener {
  const adapter = new FetchAdapter({ gateway: proxied.gateway, world, address: () => "127.0.0.1" });
  return (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.on("close", () => outgoing.writableFinished || left.abort());
    const { method = "GET", rawHeaders } = incoming;
    const headers = new Headers();
    for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
    const body = method === "GET" ? null : (incoming as unknown as ReadableStream);
    const url = `http://${incoming.headers.host}${incoming.url}`;
    const request = new Request(url, {
      method,
      headers,
      body,
      duplex: "half",
      signal: left.signal,
    } as RequestInit);
    void adapter
      .handle(
        request,
        () => new Response("the site", { headers: { "content-type": "text/html" } }),
        undefined,
      )
      .then(async (answer) => {
        outgoing.writeHead(answer.status, [...answer.headers].flat());
        if (answer.body) for await (const chunk of answer.body) outgoing.write(chunk);
        outgoing.end();
      })
      .catch(() => outgoing.destroy());
  };
}

test("the Fetch API", async (t) => {
  const stage = await openShopStage(t);
  await shops(await serve(t, fetchHandler(stage)));
});

test("the Fetch API: whoever leaves inside the body is given up, and nothing was done", async (t) => {
  const stage = await openShopStage(t);
  const visitor = await serve(t, fetchHandler(stage));
  await visitor.open();
  const before = { ...stage.desk.calls };
  const headers = { cookie: visitor.cookie, "content-type": "application/json", "content-length": "50" };
  const request = http.request({ port: visitor.port, path: HOLDS, method: "POST", headers });
  request.on("error", () => {});
  request.write("{");
  await new Promise((resolve) => setTimeout(resolve, 100));
  request.destroy();
  assert.equal((await shop(visitor, "POST holds", SEAT)).status, 201);
  assert.equal(stage.desk.calls.hold, (before.hold ?? 0) + 1);
});

test("Node: a body that is announced with Expect is asked for when it is wanted", async (t) => {
  const stage = await openShopStage(t);
  const visitor = await stage.shopper();
  const headers = { cookie: visitor.cookie, "content-type": "application/json", expect: "100-continue" };
  const path = HOLDS;
  const body = JSON.stringify(SEAT.json);
  const request = http.request({
    port: stage.port,
    path,
    method: "POST",
    headers: { ...headers, "content-length": body.length },
  });
  let asked = 0;
  request.on("continue", () => {
    asked++;
    request.end(body);
  });
  request.flushHeaders();
  const status = await new Promise<number>((resolve) =>
    request.on("response", (answer) => resolve(answer.statusCode!)),
  );
  assert.deepEqual([status, asked], [201, 1]);
  // Without a pass nothing is asked for.
  const refused = await talk(
    stage.port,
    `POST ${HOLDS} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`,
  );
  assert.match(refused, /^HTTP\/1\.1 403 /);
});

test("Node: requests after one with a body go on over the same connection", async (t) => {
  const stage = await openShopStage(t);
  const visitor = await stage.shopper();
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const headers = { "content-type": "application/json" };
  for (let time = 0; time < 3; time++) {
    const answer = await visitor.ask(HOLDS, {
      method: "POST",
      body: JSON.stringify(SEAT.json),
      headers,
      agent,
    });
    assert.equal(answer.status, 201);
  }
  assert.equal(Object.keys(agent.freeSockets).length, 1);
});

test("Node: over HTTP/2, with the secure cookies of https", async (t) => {
  const stage = await openShopStage(t, {
    settings: {
      tls: TLS,
      data: "./none",
      shops: { tickets: {} },
      rooms: { main: { totalActiveUsers: 10, newcomerDuration: "1d", shop: "tickets" } },
    },
  });
  const session = http2.connect(`https://localhost:${stage.port}`, { ca: readFileSync(TLS.certificateFile) });
  t.after(() => session.destroy());
  const jar = stage.visitor();
  const ask = async (headers: OutgoingHttpHeaders, body?: string) => {
    const stream = session.request({ ...headers, cookie: jar.cookie }, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    const [answer] = (await once(stream, "response")) as [IncomingHttpHeaders];
    jar.keep(answer["set-cookie"] ?? []);
    await stream.setEncoding("utf8").toArray();
    return answer[":status"];
  };
  assert.equal(await ask({ ...PAGE, ":path": "/" }), 200);
  const call = { ":method": "POST", ":path": HOLDS, "content-type": "application/json" };
  assert.equal(await ask(call, JSON.stringify(SEAT.json)), 201);
  assert.equal(await ask(call, " ".repeat(CALL_BYTES_MAX + 1)), 413);
  assert.ok(jar.cookies.has("__Host-fairgate_main_shop"));
  assert.equal(await ask({ ":path": "/.fairgate/main/shop/basket" }), 200);
});

test("forward-auth: another proxy is told to hand on what is asked of the shop", async (t) => {
  const stage = await openShopStage(t, {
    settings: {
      forwardAuth: true,
      trustedProxies: ["127.0.0.1"],
      data: "./none",
      shops: { tickets: {} },
      rooms: { main: { totalActiveUsers: 10, shop: "tickets" } },
    },
  });
  const headers = { "x-original-method": "POST", "x-original-uri": HOLDS, host: "shop.example" };
  const answer = await stage.visitor().ask("/.fairgate/auth/nginx", { headers });
  assert.notEqual(answer.status, 200);
});
