/**
 * Addresses that are dead, swallow connections, hang up, or answer with errors, beside others that are well: what
 * visitors notice, how often such an address is tried, and what somebody can do with it on purpose.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { type TestContext, test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { handWorld } from "../../../sim/hand-world.ts";
import { fixturePath } from "../../../testing/fixtures.ts";
import {
  askProxy,
  closedPort,
  openProxiedOrigin,
  openProxyStage,
  openRawOrigin,
  type ProxyStageOptions,
  until,
} from "../../../testing/proxy/stage.ts";
import type { HttpAsking } from "../../../visitor/ask.ts";
import { BACK_OFF_MIN_MS, ERRORS_REMEMBERED_MS } from "../address-health.ts";
import { REPEATED_SHARE } from "../repeat-budget.ts";

const TLS = {
  certificateFile: fixturePath("localhost.cert.pem"),
  keyFile: fixturePath("localhost.key.pem"),
};

/** Origins that say who they are, in time that the test moves. */
async function openWell(
  t: TestContext,
  count: number,
  others: readonly string[],
  options: ProxyStageOptions = {},
) {
  const time = handWorld();
  const names = Array.from({ length: count }, (_, n) => `well ${n}`);
  const well = await Promise.all(
    names.map((name) =>
      openProxiedOrigin(t, (request, response) => {
        request.resume().on("end", () => response.end(name));
      }),
    ),
  );
  const addresses = [...others, ...well.map(({ address }) => address)];
  const stage = await openProxyStage(t, addresses, { time, ...options });
  const codes = () => stage.world.entries.map(({ fields }) => fields.code);
  const troubles = () => stage.proxy.health().map(({ trouble }) => trouble);
  return { ...stage, time, well, codes, troubles };
}

/** An origin that hangs up on every request, and counts them. */
async function openHangUp(t: TestContext) {
  let hangUps = 0;
  const { address } = await openRawOrigin(t, (socket) => {
    socket.once("data", () => {
      hangUps++;
      socket.resetAndDestroy();
    });
  });
  return { address, hangUps: () => hangUps };
}

/** Many requests, a few at a time, and the status of each. */
async function askMany(port: number, count: number, asking: HttpAsking = {}, atOnce = 10): Promise<number[]> {
  const statuses: number[] = [];
  const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce });
  await Promise.all(
    Array.from({ length: count }, async () => {
      statuses.push((await askProxy(port, { agent, ...asking })).status);
    }),
  );
  agent.destroy();
  return statuses;
}

const countOf = (statuses: readonly number[], wanted: number) =>
  statuses.filter((status) => status === wanted).length;

test("a dead address is tried behind the scenes at growing intervals, by no visitor, and told twice", async (t) => {
  const dead = await closedPort();
  const { port, proxy, time, codes } = await openWell(t, 1, [`http://127.0.0.1:${dead}`]);
  const failures = () => proxy.health()[0]!.failures;
  assert.equal((await askProxy(port)).status, 200);
  for (const [tries, restMs] of [1_000, 2_000, 4_000].entries()) {
    time.pass(restMs - 1);
    assert.deepEqual(await askMany(port, 5), Array(5).fill(200));
    assert.equal(failures(), tries + 1);
    time.pass(1);
    await until(() => failures() === tries + 2);
  }
  const server = http.createServer((_request, response) => response.end("back"));
  await new Promise<void>((resolve) => server.listen(dead, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  time.pass(8_000);
  await until(() => proxy.health()[0]!.isUp);
  const bodies = [await askProxy(port), await askProxy(port)].map(({ body }) => body.toString());
  assert.deepEqual(bodies.sort(), ["back", "well 0"]);
  assert.deepEqual(codes(), ["ORIGIN_DOWN", "ORIGIN_UP"]);
});

test("a try that is under way does not hold up closing", async (t) => {
  const dead = await closedPort();
  const { port, time, close } = await openWell(t, 1, [`https://127.0.0.1:${dead}`], {
    origin: { connectTimeout: 3_600_000 },
  });
  await askProxy(port);
  // TCP connects from now on, TLS never does.
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket
      .on("close", () => sockets.delete(socket))
      .on("error", () => {})
      .resume();
  });
  await new Promise<void>((resolve) => server.listen(dead, "127.0.0.1", resolve));
  t.after(() => server.close());
  time.pass(BACK_OFF_MIN_MS);
  await until(() => sockets.size === 1);
  await close();
  await until(() => sockets.size === 0);
});

test("an address that swallows connections costs one visitor a wait, once", async (t) => {
  let connections = 0;
  // TCP connects, TLS never does.
  const silent = await openRawOrigin(t, () => void connections++);
  const { port, codes } = await openWell(t, 2, [`https://127.0.0.1:${silent.port}`], {
    origin: { connectTimeout: 500 },
  });
  const waits = askProxy(port);
  await until(() => connections === 1);
  // Nobody knows yet what becomes of the first, and nobody else is sent after it.
  assert.deepEqual(await askMany(port, 30), Array(30).fill(200));
  assert.equal(connections, 1);
  assert.equal((await waits).status, 200);
  assert.deepEqual(await askMany(port, 30), Array(30).fill(200));
  assert.equal(connections, 1);
  assert.deepEqual(codes(), ["ORIGIN_DOWN"]);
});

test("where one of three hangs up, no GET fails; what cannot be repeated fails until the address rests", async (t) => {
  const bad = await openHangUp(t);
  const { port, time, codes, troubles } = await openWell(t, 2, [bad.address]);
  assert.deepEqual(await askMany(port, 200), Array(200).fill(200));
  assert.deepEqual(troubles(), ["failing", null, null]);
  const before = bad.hangUps();
  assert.ok(before <= 20, `${before} requests`);
  assert.equal(countOf(await askMany(port, 100, { method: "POST", body: "form" }), 200), 100);
  assert.equal(bad.hangUps(), before);
  // One GET is the trial, and its visitor notices nothing.
  time.pass(BACK_OFF_MIN_MS);
  assert.deepEqual(await askMany(port, 50), Array(50).fill(200));
  assert.equal(bad.hangUps(), before + 1);
  assert.deepEqual(codes(), ["ORIGIN_FAILING"]);
});

test("an address that answers its trial is used as before", async (t) => {
  let isBroken = true;
  const bad = await openProxiedOrigin(t, (request, response) => {
    if (isBroken) request.socket.resetAndDestroy();
    else response.end("mended");
  });
  const { port, time, codes } = await openWell(t, 1, [bad.address]);
  await askMany(port, 20);
  isBroken = false;
  assert.equal((await askProxy(port)).body.toString(), "well 0");
  time.pass(BACK_OFF_MIN_MS);
  const bodies = [await askProxy(port), await askProxy(port), await askProxy(port)].map(({ body }) =>
    body.toString(),
  );
  assert.equal(bodies[0], "mended");
  assert.ok(bodies.includes("well 0"));
  assert.deepEqual(codes(), ["ORIGIN_FAILING", "ORIGIN_ANSWERS"]);
});

test("answers that are broken off count as well", async (t) => {
  const bad = await openProxiedOrigin(t, (request, response) => {
    response.write("half", () => request.socket.destroy());
  });
  const { port, troubles } = await openWell(t, 1, [bad.address]);
  const asked = Array.from({ length: 12 }, () => askProxy(port).catch((error: Error) => error));
  const broken = (await Promise.all(asked)).filter((answer) => answer instanceof Error);
  assert.ok(broken.length >= 3, "what has begun is not repeated");
  assert.deepEqual(troubles(), ["failing", null]);
});

test("so do answers that never begin, and a GET gets its own from another address", async (t) => {
  const silent = await openProxiedOrigin(t, () => {});
  const { port, troubles } = await openWell(t, 1, [silent.address], { origin: { headersTimeout: 1_000 } });
  assert.deepEqual(await askMany(port, 10), Array(10).fill(200));
  assert.deepEqual(troubles(), ["failing", null]);
});

test("where one of three answers 500 at once it gets less than its share, and all of it once it is well", async (t) => {
  let isBroken = true;
  let errors = 0;
  const bad = await openProxiedOrigin(t, (_request, response) => {
    if (isBroken) errors++;
    response.writeHead(isBroken ? 500 : 200).end("mended");
  });
  const { port, time, troubles } = await openWell(t, 2, [bad.address]);
  const first = countOf(await askMany(port, 300), 500);
  assert.ok(first <= 60, `${first} of 300`);
  const later = countOf(await askMany(port, 300), 500);
  assert.ok(later <= 15 && later < first, `${later} of 300`);
  assert.equal(errors, first + later);
  assert.deepEqual(troubles(), [null, null, null], "a site may mean its 500s");
  isBroken = false;
  time.pass(ERRORS_REMEMBERED_MS);
  const bodies: string[] = [];
  for (let n = 0; n < 30; n++) bodies.push((await askProxy(port)).body.toString());
  assert.equal(bodies.filter((body) => body === "mended").length, 10);
});

test("statuses that are set to be failures take an address out", async (t) => {
  let status = 503;
  const bad = await openProxiedOrigin(t, (_request, response) => {
    response.writeHead(status).end();
  });
  const { port, time, troubles } = await openWell(t, 1, [bad.address], {
    origin: { failureStatuses: [503] },
  });
  await askMany(port, 20);
  assert.deepEqual(troubles(), ["failing", null]);
  assert.deepEqual(await askMany(port, 20), Array(20).fill(200));
  status = 500;
  time.pass(BACK_OFF_MIN_MS);
  await askProxy(port);
  assert.deepEqual(troubles(), [null, null], "500 was not set");
});

test("nobody can take all addresses out by asking for what makes them hang up", async (t) => {
  const seen = [0, 0, 0, 0];
  const origins = await Promise.all(
    seen.map((_, n) =>
      openProxiedOrigin(t, (request, response) => {
        if (request.url === "/poison") return void request.socket.resetAndDestroy();
        seen[n]!++;
        response.end();
      }),
    ),
  );
  const addresses = origins.map(({ address }) => address);
  const { port } = await openProxyStage(t, addresses, { time: handWorld() });
  for (let round = 0; round < 3; round++) {
    assert.equal(countOf(await askMany(port, 40, { path: "/poison" }), 502), 40);
    assert.deepEqual(await askMany(port, 40), Array(40).fill(200));
  }
  const used = seen.filter((count) => count >= 10).length;
  assert.ok(used >= 2, `${seen}`);
});

test("repeats never multiply the load: with the budget spent a visitor gets the error", async (t) => {
  const bad = await Promise.all([openHangUp(t), openHangUp(t), openHangUp(t)]);
  const connectionsMax = 16;
  const { port } = await openProxyStage(
    t,
    bad.map(({ address }) => address),
    { time: handWorld(), origin: { connectionsMax } },
  );
  const requests = 200;
  assert.equal(countOf(await askMany(port, requests), 502), requests);
  const reached = bad.reduce((sum, { hangUps }) => sum + hangUps(), 0);
  const most = requests * (1 + REPEATED_SHARE) + connectionsMax;
  assert.ok(reached > requests + connectionsMax && reached <= most, `${reached} of at most ${most}`);
});

/** What visitors do over HTTP/1 to end a request that the origin has begun to read. */
const BREAKS: Readonly<Record<string, string>> = {
  "a request": "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
  "an upload": `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${"x".repeat(100_000)}`,
};

/** An origin that never answers, by two names, and how many requests it has had. */
async function openSilent(t: TestContext, options: ProxyStageOptions = {}) {
  const asked = { count: 0 };
  const { address, port } = await openProxiedOrigin(t, (request) => {
    asked.count++;
    request.on("error", () => {}).resume();
  });
  const addresses = [address, `http://localhost:${port}`];
  const stage = await openProxyStage(t, addresses, { time: handWorld(), ...options });
  const troubles = () => stage.proxy.health().map(({ trouble }) => trouble);
  /** Begins a request and ends it once it has reached the origin. */
  const breakOff = async (begin: () => () => void) => {
    const before = asked.count;
    const end = begin();
    await until(() => asked.count > before);
    end();
    await until(() => stage.proxy.inFlight() === 0);
  };
  return { ...stage, troubles, breakOff };
}

test("visitors who leave, or break their own uploads off, tell nothing about an address", async (t) => {
  const { port, troubles, breakOff } = await openSilent(t);
  for (const text of Object.values(BREAKS))
    for (let n = 0; n < 8; n++)
      await breakOff(() => {
        const socket = net.connect(port, "127.0.0.1");
        socket.write(text);
        return () => socket.resetAndDestroy();
      });
  assert.deepEqual(troubles(), [null, null]);
});

test("nor do visitors who end their HTTP/2 uploads with an error", async (t) => {
  const { port, troubles, breakOff } = await openSilent(t, { tls: TLS });
  const session = http2.connect(`https://localhost:${port}`, { ca: readFileSync(TLS.certificateFile) });
  t.after(() => session.destroy());
  for (let n = 0; n < 8; n++)
    await breakOff(() => {
      const stream = session.request({ ":method": "POST", ":path": "/" });
      stream.on("error", () => {}).write(Buffer.alloc(100_000));
      return () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    });
  assert.deepEqual(troubles(), [null, null]);
});

test("a WebSocket goes to another address when one is dead or hangs up, and both are found out", async (t) => {
  const bad = await openHangUp(t);
  const dead = `http://127.0.0.1:${await closedPort()}`;
  const { port, well, troubles } = await openWell(t, 2, [bad.address, dead]);
  for (const { server } of well) {
    const sockets = new WebSocketServer({ server });
    t.after(() => sockets.close());
    sockets.on("connection", (socket) => socket.send("hello"));
  }
  for (let n = 0; n < 16; n++) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    const [hello] = await new Promise<unknown[]>((resolve, reject) => {
      socket.on("message", (...args) => resolve(args)).on("error", reject);
    });
    assert.equal(String(hello), "hello");
    socket.terminate();
  }
  assert.deepEqual(troubles(), ["failing", "unreachable", null, null]);
});
