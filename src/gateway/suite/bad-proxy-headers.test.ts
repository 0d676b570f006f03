/**
 * PROXY headers that mean harm: forged by someone who is no proxy, endless, slow, doubled, or none at all. Nobody gets an
 * address that is not theirs, and connections without a header keep nobody out.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import tls from "node:tls";
import { V2_BYTES_MAX } from "../../sockets/proxy-header.ts";
import { headerV1, headerV2, localV2, rawV2 } from "../../testing/gateway/proxy-header.ts";
import { openStage, type Stage, type StageOptions, TLS } from "../../testing/gateway/stage.ts";
import { until } from "../../testing/until.ts";

const PROXY = "127.0.0.1";
const STRANGER = "127.0.0.2";
const VICTIM = "203.0.113.7";
const SETTINGS = { proxyProtocol: true, trustedProxies: [PROXY] };
const REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const HEADERS_TIMEOUT_MS = 15_000;

interface Client {
  readonly socket: Socket;
  heard: string;
  isOver: boolean;
}

function open(t: TestContext, options: StageOptions = {}): Promise<Stage> {
  const room = { totalActiveUsers: 100 };
  return openStage(t, { room, ...options, settings: { ...SETTINGS, ...options.settings } });
}

/** Connects from an address and sends the bytes, if any. */
function connect(t: TestContext, { port }: Stage, from: string, ...parts: (Buffer | string)[]): Client {
  const socket = net.connect({ port, host: "127.0.0.1", localAddress: from });
  const client: Client = { socket, heard: "", isOver: false };
  socket.on("data", (chunk) => (client.heard += chunk.toString("latin1")));
  socket.on("error", () => {}).on("close", () => (client.isOver = true));
  t.after(() => socket.destroy());
  if (parts.length > 0) socket.write(Buffer.concat(parts.map((part) => Buffer.from(part))));
  return client;
}

/** What is answered until the connection is closed. */
async function said(client: Client): Promise<string> {
  await until(() => client.isOver, "the end of the connection");
  return client.heard;
}

function warnings(stage: Stage): object[] {
  return stage.world.logged.filter(({ level }) => level === "warn").map(({ fields }) => fields);
}

test("a header from an address that is no trusted proxy is a malformed request, and names nobody", async (t) => {
  const stage = await open(t);
  for (const header of [headerV1(VICTIM), headerV2(VICTIM), localV2(), Buffer.from("PROXY UNKNOWN\r\n")])
    assert.match(
      await said(connect(t, stage, STRANGER, header, REQUEST)),
      /^HTTP\/1\.1 400 [\s\S]*malformed/,
    );
  assert.deepEqual(stage.origin.seen, []);
});

test("nor is one believed while the setting is off", async (t) => {
  const stage = await open(t, { settings: { proxyProtocol: false } });
  for (const header of [headerV1(VICTIM), headerV2(VICTIM)])
    assert.match(await said(connect(t, stage, PROXY, header, REQUEST)), /^HTTP\/1\.1 400 [\s\S]*malformed/);
  assert.deepEqual(stage.origin.seen, []);
});

test("a second header is a malformed request", async (t) => {
  const stage = await open(t);
  for (const second of [headerV1(VICTIM), headerV2(VICTIM)])
    for (const first of [headerV1("192.0.2.1"), headerV2("192.0.2.1"), localV2()])
      assert.match(
        await said(connect(t, stage, PROXY, first, second, REQUEST)),
        /^HTTP\/1\.1 400 [\s\S]*malformed/,
      );
  assert.deepEqual(stage.origin.seen, []);
});

test("a trusted proxy that sends no header, or a wrong one, is refused and named in the log", async (t) => {
  const stage = await open(t);
  const wrong = [
    [REQUEST, "is missing"],
    ["PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", "is malformed"],
    [`PROXY UNKNOWN ${"a".repeat(100)}`, "is longer than 107 bytes"],
    [
      rawV2({ versionAndCommand: 0x21, family: 0x11, rest: Buffer.alloc(4) }),
      "is too short for its addresses",
    ],
    [localV2(Buffer.alloc(V2_BYTES_MAX)), `is longer than ${V2_BYTES_MAX} bytes`],
  ] as const;
  for (const [bytes, problem] of wrong) {
    assert.match(await said(connect(t, stage, PROXY, bytes)), /^HTTP\/1\.1 400 [\s\S]*PROXY header expected/);
    const [fields] = warnings(stage).slice(-1);
    const expected = { code: "PROXY_HEADER", whose: "visitors", count: 1, address: PROXY };
    assert.deepEqual(fields, { ...expected, problem: `the PROXY header ${problem}` });
    stage.world.pass(1_000);
  }
  assert.equal(stage.listener.connections.refused.header, wrong.length);
  assert.deepEqual(stage.origin.seen, []);
});

test("an endless line is cut off at its limit, however it comes", async (t) => {
  const stage = await open(t);
  const client = connect(t, stage, PROXY, "PROXY UNKNOWN ");
  const drip = setInterval(() => client.socket.write("a".repeat(10)), 1);
  t.after(() => clearInterval(drip));
  assert.match(await said(client), /^HTTP\/1\.1 400 /);
});

test("connections without a header, or with half of one, are closed when its time is over", async (t) => {
  const stage = await open(t);
  const { connections } = stage.listener;
  const silent = connect(t, stage, PROXY);
  const [slow1, slow2] = [
    connect(t, stage, PROXY, "PROXY "),
    connect(t, stage, PROXY, localV2().subarray(0, 15)),
  ];
  await until(() => connections.open === 3);
  stage.world.pass(HEADERS_TIMEOUT_MS - 1_000);
  slow1.socket.write("TCP4 ");
  const late = connect(t, stage, PROXY, "P");
  await until(() => connections.open === 4);
  stage.world.pass(2_000);
  await until(() => silent.isOver && slow1.isOver && slow2.isOver);
  assert.deepEqual([connections.open, late.isOver], [1, false]);
  assert.deepEqual(warnings(stage), []);
});

test("a proxy that connects and goes away again, as health checks do, leaves nothing behind and no word", async (t) => {
  const stage = await open(t);
  for (const bytes of ["", "PROXY", headerV1(VICTIM), localV2(), headerV1(VICTIM) + REQUEST])
    connect(t, stage, PROXY, bytes).socket.end();
  const reset = connect(t, stage, PROXY, "PROXY");
  await once(reset.socket, "connect");
  reset.socket.resetAndDestroy();
  await until(() => stage.origin.seen.length === 1 && stage.listener.connections.open === 0);
  assert.deepEqual(warnings(stage), []);
});

test("silent connections through the proxy push out each other, not visitors", async (t) => {
  const stage = await open(t, { connections: { max: 8, perAddressMax: 100 } });
  const visitors = [1, 2, 3].map((n) => connect(t, stage, PROXY, headerV2(`203.0.113.${n}`), REQUEST));
  await until(() => visitors.every(({ heard }) => heard.includes("the site")));
  const silent = Array.from({ length: 30 }, () => connect(t, stage, PROXY));
  await until(() => {
    stage.world.pass(1);
    return silent.filter(({ isOver }) => isOver).length === 25;
  });
  assert.deepEqual(
    visitors.map(({ isOver }) => isOver),
    [false, false, false],
  );
});

test("with TLS a forged, missing or second header is the end of the connection", async (t) => {
  const stage = await open(t, { settings: { tls: TLS } });
  const handshake = async (from: string, ...headers: Buffer[]) => {
    const raw = connect(t, stage, from, ...headers).socket;
    const secure = tls.connect({ socket: raw, rejectUnauthorized: false });
    const [outcome] = await Promise.race([
      once(secure, "secureConnect").then(() => ["secure"]),
      once(secure, "error"),
      once(secure, "close").then(() => ["closed"]),
    ]);
    secure.destroy();
    return outcome === "secure";
  };
  assert.ok(await handshake(PROXY, headerV1(VICTIM)));
  assert.ok(await handshake(STRANGER));
  assert.ok(!(await handshake(PROXY)));
  assert.ok(!(await handshake(STRANGER, headerV1(VICTIM))));
  assert.ok(!(await handshake(STRANGER, headerV2(VICTIM))));
  assert.ok(!(await handshake(PROXY, headerV1(VICTIM), headerV2(VICTIM))));
});
