/** The access log: what is in a line for each way a request can go, and what is in none. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http2 from "node:http2";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import express from "express";
import { createGateway } from "../../index.ts";
import { newCode } from "../../testing/gateway/lane-code.ts";
import {
  type Access,
  openOrigin,
  openStage,
  STAGE_SECRET,
  type Stage,
  TLS,
} from "../../testing/gateway/stage.ts";
import { JSON_CLIENT, PAGE, talk, Visitor } from "../../testing/gateway/visitor.ts";
import { until } from "../../testing/until.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const PICTURE = { "sec-fetch-dest": "image", accept: "image/*" };

/** The next line, once it is there. */
async function nextAccess(stage: Stage, seen: { lines: number }): Promise<Access> {
  await until(() => stage.accesses.length > seen.lines, "a line of the access log");
  return stage.accesses[seen.lines++]!;
}

/** Reads line by line. */
function reader(stage: Stage): () => Promise<Access> {
  const seen = { lines: 0 };
  return () => nextAccess(stage, seen);
}

test("who entered, who has a pass and who waits: by whom, for what, from where, how long", async (t) => {
  const stage = await openStage(t, {
    answer: (_request, response) => {
      stage.world.pass(30);
      response.end("the site");
      stage.world.pass(12);
    },
  });
  const next = reader(stage);
  const headers = { "user-agent": "Tester/1.0", referer: "https://elsewhere.example/" };
  const first = stage.visitor();
  await first.open("/tickets?day=2", headers);
  const { time, id, visitor, ...entered } = await next();
  const { headers: told } = stage.origin.seen[0]!;
  assert.deepEqual(entered, {
    ...{ address: "127.0.0.1", method: "GET", path: "/tickets?day=2", protocol: "HTTP/1.1", status: 200 },
    ...{ bytes: "the site".length, referer: "https://elsewhere.example/", userAgent: "Tester/1.0" },
    ...{ host: `127.0.0.1:${stage.port}`, room: "main", decision: "entered" },
    ...{ origin: stage.origin.address, originMs: 30 + 12, ms: 30 + 12 },
  });
  assert.deepEqual([visitor, id], [told["fairgate-visitor"], told["x-request-id"]]);
  assert.equal(time, new Date(stage.world.clock.now()).toISOString());

  await first.ask("/", { method: "HEAD" });
  const { decision, bytes, ...again } = await next();
  assert.deepEqual([decision, bytes, again.visitor], ["pass", 0, visitor]);

  const second = stage.visitor();
  const page = await second.open("/tickets");
  const waiting = await next();
  assert.deepEqual([waiting.decision, waiting.status, waiting.room], ["waiting", 200, "main"]);
  assert.deepEqual([waiting.bytes, waiting.origin, waiting.id], [Buffer.byteLength(page.text), null, null]);
  assert.match(String(waiting.visitor), /^[0-9a-f]{32}$/);
  const { text } = await second.ask("/api", { headers: JSON_CLIENT });
  const json = await next();
  assert.deepEqual([json.decision, json.status, json.visitor], ["waiting", 429, waiting.visitor]);
  assert.equal(json.bytes, text.length);
  await stage.visitor().ask("/logo.png", { headers: PICTURE });
  const picture = await next();
  assert.deepEqual([picture.decision, picture.status, picture.visitor], ["waiting", 429, null]);
});

test("boards and check-ins that got their answer leave no line; our other addresses do", async (t) => {
  const stage = await openStage(t);
  const next = reader(stage);
  await stage.occupant();
  const { visitor: occupant } = await next();
  const waiting = stage.visitor();
  await waiting.call("join");
  const joined = await next();
  assert.deepEqual([joined.decision, joined.status, joined.room], ["own", 200, "main"]);
  await waiting.ask("/.fairgate/main/board");
  await waiting.ask("/.fairgate/main/board?again");
  await waiting.call("check-in");
  await stage.visitor().post("check-in");
  const refused = await next();
  assert.deepEqual([refused.path, refused.status], ["/.fairgate/main/check-in", 403]);
  const events = await waiting.listen();
  await events.heard("board");
  stage.world.pass(1_000);
  await events.heard("board", 2);
  events.hangUp();
  const stream = await next();
  assert.deepEqual([stream.path, stream.status, stream.decision], ["/.fairgate/main/events", 200, "own"]);
  assert.match(String(stream.visitor), /^[0-9a-f]{32}$/);
  assert.notEqual(stream.visitor, occupant);
  const sizes = events.events.map(({ data }) => data.length);
  assert.ok(Number(stream.bytes) > sizes[0]! + sizes[1]!, String(stream.bytes));
  await waiting.ask("/.fairgate/nothing");
  assert.equal((await next()).status, 404);
});

test("what goes past every line, and what is refused before one", async (t) => {
  const rooms = {
    main: { host: "shop.example", totalActiveUsers: 1, bypass: [{ name: "assets", path: ["/assets"] }] },
    other: { host: "shop.example", path: "/quiet", totalActiveUsers: 1, suspended: true },
    away: { host: "away.example", path: "/buy", totalActiveUsers: 1 },
  };
  const stage = await openStage(t, { settings: { rooms, limits: { headerBytes: "4KB" } } });
  const next = reader(stage);
  const ask = async (path: string, host = "shop.example") => {
    await stage.visitor().ask(path, { headers: { host } });
    const { decision, room, status, host: asked } = await next();
    assert.equal(asked, host);
    return [decision, room, status];
  };
  assert.deepEqual(await ask("/assets/logo.png"), ["bypassed", "main", 200]);
  assert.deepEqual(await ask("/quiet"), ["bypassed", "other", 200]);
  assert.deepEqual(await ask("/", "away.example"), ["outside", null, 200]);
  assert.deepEqual(await ask("/", "unknown.example"), ["refused", null, 421]);
  assert.deepEqual(await ask("/%zz"), ["refused", null, 400]);

  const raw = async (text: string) => {
    await talk(stage.port, text);
    const { decision, method, status, address } = await next();
    assert.equal(address, "127.0.0.1");
    return [decision, method, status];
  };
  assert.deepEqual(await raw("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), ["refused", "GET", 400]);
  assert.deepEqual(await raw("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"), ["refused", "CONNECT", 405]);
  assert.deepEqual(await raw("this is no HTTP\r\n\r\n"), ["refused", null, 400]);
  assert.deepEqual(await raw(`GET / HTTP/1.1\r\nA: ${"a".repeat(9_000)}\r\n\r\n`), ["refused", null, 431]);
  const options = "OPTIONS * HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n";
  assert.deepEqual(await raw(options), ["own", "OPTIONS", 204]);
});

test("turned away, too many at once, left before an answer, and an engine that is away", async (t) => {
  const held: (() => void)[] = [];
  const stage = await openStage(t, {
    settings: { limits: { requestsPerVisitorMax: 1 } },
    answer: (request, response) => {
      if (request.url === "/slow") held.push(() => response.end());
      else response.end("the site");
    },
  });
  const next = reader(stage);
  const visitor = await stage.occupant();
  const { visitor: id } = await next();
  const hanging = net.connect(stage.port, "127.0.0.1");
  hanging.write(`GET /slow HTTP/1.1\r\nHost: a\r\nCookie: fairgate_main=${visitor.token()}\r\n\r\n`);
  await until(() => held.length === 1, "a request under way");
  await visitor.open();
  const tooMany = await next();
  assert.deepEqual([tooMany.decision, tooMany.status, tooMany.visitor], ["tooMany", 429, id]);
  hanging.destroy();
  const left = await next();
  assert.deepEqual([left.decision, left.status, left.bytes, left.originMs], ["pass", 499, 0, null]);
  assert.equal(left.origin, stage.origin.address);

  await stage.proxied.configure(stage.settings({ room: { closed: true } }));
  await stage.visitor().open();
  const away = await next();
  assert.deepEqual([away.decision, away.status, away.visitor], ["turnedAway", 503, null]);
  stage.engine.broken = "throws";
  await stage.visitor().open();
  assert.deepEqual((await next()).decision, "engineAway");
  await stage.proxied.configure(stage.settings({ room: { engineFailure: "open" } }));
  await stage.visitor().open();
  assert.deepEqual((await next()).decision, "failedOpen");
});

test("an origin that does not answer leaves the id that its visitor was shown", async (t) => {
  const stage = await openStage(t, { answer: (request) => request.socket.destroy() });
  const { text, status } = await stage.visitor().ask("/", { headers: JSON_CLIENT });
  const line = await reader(stage)();
  assert.deepEqual([line.status, line.bytes, line.originMs], [status, text.length, null]);
  assert.equal(line.id, (JSON.parse(text) as { id: string }).id);
});

test("a broken-off download counts what left, not what was kept for its visitor", async (t) => {
  // More than the buffers of both ends' sockets hold.
  const download = Buffer.alloc(32 * 1_048_576);
  let isHanded = false;
  const stage = await openStage(t, {
    settings: { limits: { spooledAnswerBytes: "1GB", spooledAnswersBytes: "1GB" } },
    answer: (_request, response) => response.on("finish", () => (isHanded = true)).end(download),
  });
  const socket = net.connect(stage.port, "127.0.0.1");
  socket.once("data", () => socket.pause());
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => isHanded, "all of it at the gateway");
  socket.destroy();
  const { status, bytes } = await reader(stage)();
  assert.equal(status, 200);
  assert.ok(Number(bytes) > 0 && Number(bytes) < download.length / 2, String(bytes));
});

test("an upgraded connection is one line at its end, with what it sent and how long it was open", async (t) => {
  const origin = await openOrigin(t);
  origin.server.on("upgrade", (_request, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    socket.pipe(socket);
  });
  const stage = await openStage(t, { origin });
  const next = reader(stage);
  const asking = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
  const socket = net.connect(stage.port, "127.0.0.1");
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk));
  socket.write(asking);
  await until(() => heard.endsWith("\r\n\r\n"), "the upgrade");
  heard = "";
  socket.write("hello");
  await until(() => heard === "hello", "the echo");
  stage.world.pass(2_500);
  assert.deepEqual(stage.accesses, []);
  socket.destroy();
  const chat = await next();
  assert.deepEqual([chat.decision, chat.status, chat.bytes, chat.ms], ["entered", 101, 5, 2_500]);
  assert.deepEqual([chat.path, chat.origin, chat.originMs], ["/chat", origin.address, 0]);

  await talk(stage.port, asking);
  const waiting = await next();
  assert.deepEqual([waiting.decision, waiting.status, waiting.room], ["waiting", 429, "main"]);
});

test("over HTTP/2 lines are the same", async (t) => {
  const stage = await openStage(t, { settings: { tls: TLS } });
  const next = reader(stage);
  const session = http2.connect(`https://localhost:${stage.port}`, { ca: readFileSync(TLS.certificateFile) });
  t.after(() => session.destroy());
  const ask = async (headers: http2.OutgoingHttpHeaders) => {
    const stream = session.request({ "user-agent": "Tester/2.0", ...headers }, { endStream: true });
    await stream.setEncoding("utf8").toArray();
    return next();
  };
  const entered = await ask({ ...PAGE, ":path": "/tickets" });
  assert.deepEqual([entered.decision, entered.status, entered.protocol], ["entered", 200, "HTTP/2.0"]);
  assert.deepEqual([entered.path, entered.bytes, entered.userAgent], ["/tickets", 8, "Tester/2.0"]);
  assert.deepEqual([entered.address, entered.host], ["127.0.0.1", `localhost:${stage.port}`]);
  assert.deepEqual((await ask({ ...PAGE, ":path": "/" })).decision, "waiting");
  assert.deepEqual((await ask({ ":method": "get", ":path": "/" })).status, 405);
});

test("behind a proxy that is believed, the address is the visitor's", async (t) => {
  const stage = await openStage(t, { settings: { trustedProxies: ["127.0.0.1"] } });
  await stage.visitor().open("/", { "x-forwarded-for": "203.0.113.7" });
  assert.equal((await reader(stage)()).address, "203.0.113.7");
});

test("no line has a code, a token or a cookie in it", async (t) => {
  const room = { totalActiveUsers: 2, lanes: { vip: { privileged: true } } };
  const stage = await openStage(t, { room });
  const next = reader(stage);
  const code = newCode();
  const secrets = [code, "private-1", "private-2", "private-3"];
  const headers = {
    authorization: "Bearer private-1",
    "fairgate-token": "private-2",
    "fairgate-code": code,
    referer: `http://a/?fairgate_code=${code}&day=1#top`,
  };
  const visitor = stage.visitor();
  visitor.cookies.set("session", "private-3");
  await visitor.open(`/show?day=1&fairgate_code=${code}`);
  const left = await next();
  assert.deepEqual([left.decision, left.status, left.path], ["redirected", 303, "/show?day=1"]);
  await visitor.open(`/show?fairgate%5Fcode=${code}`, headers);
  await visitor.ask(`/show?fairgate_code=${code}`, { method: "POST", headers });
  const posted = await next().then(next);
  assert.deepEqual([posted.path, posted.referer], ["/show", "http://a/?day=1#top"]);
  await talk(stage.port, `GET /?fairgate_code=${code} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`);
  assert.equal((await next()).path, "/");
  const all = JSON.stringify(stage.accesses);
  for (const secret of [...secrets, visitor.token()!]) assert.ok(!all.includes(secret), secret);
});

test("inside a program lines are written too, with the length that the app gave", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "fairgate-access-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const to = join(folder, "access.log");
  const gateway = await createGateway({
    ...{ secret: STAGE_SECRET, log: SILENT, rooms: { main: { totalActiveUsers: 1 } } },
    accessLog: { to, format: "json" },
  });
  const app = express();
  app.use(gateway.middleware).use((_request, response) => void response.send("the site"));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  for (const path of ["/in", "/waits"]) await new Visitor(port, t).open(path);
  server.close();
  server.closeAllConnections();
  await once(server, "close");
  await gateway.close();
  const lines = readFileSync(to, "utf8").trim().split("\n");
  const found = lines
    .map((line) => JSON.parse(line) as Access)
    .map(({ path, decision, bytes }) => [path, decision, bytes]);
  assert.deepEqual(
    [found[0], found[1]?.slice(0, 2)],
    [
      ["/in", "entered", 8],
      ["/waits", "waiting"],
    ],
  );
});
