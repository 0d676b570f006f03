/** Several addresses behind one proxy: who is chosen, who is left out, who comes back. */
import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { handWorld } from "../../../sim/hand-world.ts";
import {
  askProxy,
  closedPort,
  openProxiedOrigin,
  openProxyStage,
  openRawOrigin,
  until,
} from "../../../testing/proxy/stage.ts";

test("requests one after another share one connection to the origin", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.end("ok");
  });
  const { port } = await openProxyStage(t, [origin.address]);
  for (let i = 0; i < 5; i++) await askProxy(port);
  await askProxy(port, { method: "POST", body: "x" });
  assert.equal(origin.connections, 1);
});

test("the address with the fewest requests under way is next, equals take turns", async (t) => {
  const held: http.ServerResponse[][] = [[], [], []];
  const origins = await Promise.all(
    held.map((list) => openProxiedOrigin(t, (_request, response) => void list.push(response))),
  );
  const { port, proxy } = await openProxyStage(
    t,
    origins.map(({ address }) => address),
  );
  const counts = () => held.map((list) => list.length);
  const asked: Promise<unknown>[] = [];
  const askOne = async () => {
    const before = counts().reduce((a, b) => a + b);
    asked.push(askProxy(port));
    await until(() => counts().reduce((a, b) => a + b) > before);
  };
  for (let i = 0; i < 6; i++) await askOne();
  assert.deepEqual(counts(), [2, 2, 2]);
  // The second address becomes free while the others stay busy, so it gets the next two.
  for (const response of held[1]!) response.end();
  await until(() => proxy.inFlight() === 4);
  await askOne();
  await askOne();
  assert.deepEqual(counts(), [2, 4, 2]);
  assert.deepEqual(
    proxy.health().map(({ inFlight }) => inFlight),
    [2, 2, 2],
  );
  for (const list of held) for (const response of list) response.end();
  await Promise.all(asked);
  assert.equal(proxy.inFlight(), 0);
});

test("any method goes to the next address when one cannot be reached, its body whole", async (t) => {
  const origin = await openProxiedOrigin(t, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.end(`${request.method} ${body}`);
  });
  const dead = `http://127.0.0.1:${await closedPort()}`;
  const { port, proxy, world } = await openProxyStage(t, [dead, origin.address], { time: handWorld() });
  assert.equal((await askProxy(port, { method: "POST", body: "form" })).body.toString(), "POST form");
  assert.deepEqual(
    proxy.health().map(({ isUp }) => isUp),
    [false, true],
  );
  assert.equal(world.entries.find(({ fields }) => fields.code === "ORIGIN_DOWN")?.fields.address, dead);
  // Known to be down, it is not tried again for a while.
  for (let i = 0; i < 5; i++) assert.equal((await askProxy(port)).status, 200);
  assert.equal(proxy.health()[0]?.failures, 1);
});

test("a body that waits for 100 Continue is asked for only once, by the address that answers", async (t) => {
  const origin = await openProxiedOrigin(t, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.end(body);
  });
  const { port } = await openProxyStage(t, [`http://127.0.0.1:${await closedPort()}`, origin.address]);
  const answer = await new Promise<string>((resolve) => {
    const headers = { expect: "100-continue" };
    const request = http.request({ port, host: "127.0.0.1", method: "POST", agent: false, headers });
    request.flushHeaders();
    let continues = 0;
    request.on("continue", () => {
      continues++;
      request.end("late body");
    });
    request.on("response", (response) => response.once("data", (chunk) => resolve(`${continues} ${chunk}`)));
  });
  assert.equal(answer, "1 late body");
});

test("an address that hangs in connecting is passed over too", async (t) => {
  const silent = await openRawOrigin(t, () => {});
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.end("ok");
  });
  const addresses = [`https://127.0.0.1:${silent.port}`, origin.address];
  const { port } = await openProxyStage(t, addresses, { origin: { connectTimeout: 1_000 } });
  assert.equal((await askProxy(port)).body.toString(), "ok");
});

test("when all are down one is tried all the same, and the first success brings it back", async (t) => {
  const first = await closedPort();
  const second = await closedPort();
  const { port, proxy } = await openProxyStage(t, [
    `http://127.0.0.1:${first}`,
    `http://127.0.0.1:${second}`,
  ]);
  assert.equal((await askProxy(port)).status, 502);
  assert.deepEqual(
    proxy.health().map(({ isUp }) => isUp),
    [false, false],
  );
  const server = http.createServer((_request, response) => response.end("back"));
  await new Promise<void>((resolve) => server.listen(second, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  assert.equal((await askProxy(port)).body.toString(), "back");
  assert.deepEqual(
    proxy.health().map(({ isUp }) => isUp),
    [false, true],
  );
});

test("an address that does not answer a health check within its timeout fails it", async (t) => {
  const time = handWorld();
  let answer = () => {};
  const origin = await openProxiedOrigin(t, (_request, response) => {
    answer = () => response.end("late");
  });
  const { proxy } = await openProxyStage(t, [origin.address], {
    time,
    origin: { healthCheck: { path: "/", interval: 100_000, timeout: 60_000 } },
  });
  await until(() => origin.connections === 1);
  time.pass(59_999);
  assert.equal(proxy.health()[0]?.isUp, true);
  time.pass(1);
  await until(() => proxy.health()[0]?.isUp === false);
  time.pass(40_000);
  await until(() => origin.connections === 2);
  await until(() => {
    answer();
    return proxy.health()[0]?.isUp === true;
  });
});

test("an address that fails its health check gets nothing until it passes again", async (t) => {
  let isWell = false;
  const sick = await openProxiedOrigin(t, (request, response) => {
    response.writeHead(request.url === "/health" && !isWell ? 503 : 200).end("sick");
  });
  const well = await openProxiedOrigin(t, (_request, response) => {
    response.end("well");
  });
  const { port, proxy, world } = await openProxyStage(t, [sick.address, well.address], {
    origin: { healthCheck: { path: "/health", interval: 20, timeout: 60_000 } },
  });
  await until(() => proxy.health()[0]?.isUp === false);
  for (let i = 0; i < 4; i++) assert.equal((await askProxy(port)).body.toString(), "well");
  isWell = true;
  await until(() => proxy.health()[0]?.isUp === true);
  const bodies = [await askProxy(port), await askProxy(port)].map(({ body }) => body.toString());
  assert.deepEqual(bodies.sort(), ["sick", "well"]);
  const codes = world.entries.map(({ fields }) => fields.code);
  assert.deepEqual(codes, ["ORIGIN_UNWELL", "ORIGIN_WELL"]);
});

test("closing waits for what is under way", async (t) => {
  let asked: http.ServerResponse | null = null;
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.write("a");
    asked = response;
  });
  const { port, proxy } = await openProxyStage(t, [origin.address]);
  const answer = askProxy(port);
  await until(() => asked !== null);
  let isClosed = false;
  const closing = proxy.close().then(() => (isClosed = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isClosed, false);
  asked!.end("b");
  assert.equal((await answer).body.toString(), "ab");
  await closing;
});
