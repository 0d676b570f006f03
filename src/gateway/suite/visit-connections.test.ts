/** Upgraded connections live and end with the visit they belong to. */
import assert from "node:assert/strict";
import net, { type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { openOrigin, openStage, type Stage, type StageOptions } from "../../testing/gateway/stage.ts";
import type { Visitor } from "../../testing/gateway/visitor.ts";
import { until } from "../../testing/until.ts";

const SESSION_MS = 100_000;
const GRACE_MS = 30_000;
const ROOM = { totalActiveUsers: 2, sessionDuration: "100s", connectionGrace: "30s" };

/** A stage whose site agrees to every upgrade and sends back what it is sent. */
async function openEcho(t: TestContext, options: StageOptions = {}): Promise<Stage> {
  const origin = await openOrigin(t, options.answer);
  origin.server.on("upgrade", (_request, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    socket.pipe(socket);
  });
  return openStage(t, { ...options, room: { ...ROOM, ...options.room }, origin });
}

class Chat {
  heard = "";
  isClosed = false;
  readonly socket: Socket;

  constructor(stage: Stage, t: TestContext) {
    this.socket = net.connect(stage.port, "127.0.0.1");
    t.after(() => this.socket.destroy());
    this.socket.on("data", (chunk) => (this.heard += chunk)).on("error", () => {});
    this.socket.on("close", () => (this.isClosed = true));
  }

  static async open(stage: Stage, t: TestContext, token?: string): Promise<Chat> {
    const chat = new Chat(stage, t);
    const cookie = token === undefined ? "" : `Cookie: fairgate_main=${token}\r\n`;
    chat.socket.write(
      `GET /chat HTTP/1.1\r\nHost: a\r\n${cookie}Connection: Upgrade\r\nUpgrade: echo\r\n\r\n`,
    );
    await until(() => /^HTTP\/1\.1 101 [\s\S]*\r\n\r\n/.test(chat.heard), "the upgrade");
    return chat;
  }

  async say(text: string): Promise<void> {
    const before = this.heard.length;
    this.socket.write(text);
    await until(() => this.heard.slice(before).endsWith(text), "the echo");
  }
}

/** Time passes, and still the connection is open. */
async function assertOpenAfter(stage: Stage, ms: number, chats: readonly Chat[]): Promise<void> {
  stage.world.pass(ms);
  for (const chat of chats) await chat.say(`after ${ms}.`);
}

async function assertClosedAfter(stage: Stage, ms: number, chat: Chat): Promise<void> {
  stage.world.pass(ms);
  await until(() => chat.isClosed, "the end of the connection");
}

/** The gateway looks at its connections, and then tells the engine. */
async function tellPresence(stage: Stage): Promise<void> {
  for (let n = 0; n < 3; n++) {
    stage.world.pass(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function enter(stage: Stage): Promise<{ visitor: Visitor; token: string }> {
  const visitor = await stage.occupant();
  return { visitor, token: visitor.token()! };
}

test("a connection that is silent ends when the visit has run out, and its grace with it", async (t) => {
  const stage = await openEcho(t);
  const { token } = await enter(stage);
  const chat = await Chat.open(stage, t, token);
  stage.world.pass(SESSION_MS + GRACE_MS - 1_000);
  assert.equal(stage.proxied.origins()[0]!.inFlight, 1);
  await assertClosedAfter(stage, 1_000, chat);
  await until(() => stage.proxied.origins()[0]!.inFlight === 0, "the origin's side");
  stage.world.pass(1_000);
  assert.equal((await stage.engine.counts("main")).onSite, 0);
  assert.equal(stage.proxied.gateway.traffic.connectionsEnded, 1);
});

test("the grace is for connections, and for no page", async (t) => {
  const stage = await openEcho(t, { room: { totalActiveUsers: 1, disableSessionRenewal: true } });
  const { visitor, token } = await enter(stage);
  const chat = await Chat.open(stage, t, token);
  const next = stage.visitor();
  assert.equal(await next.isIn(), false);
  stage.world.pass(SESSION_MS + 1_000);
  assert.equal(await visitor.isIn(), false);
  assert.equal(await next.isIn(), false);
  await assertClosedAfter(stage, GRACE_MS, chat);
  stage.world.pass(1_000);
  assert.equal(await next.isIn(), true);
});

test("what the visitor sends renews the visit: it lives for as long as the connection is used", async (t) => {
  const stage = await openEcho(t);
  const { token } = await enter(stage);
  const chat = await Chat.open(stage, t, token);
  for (let n = 0; n < 5; n++) {
    await assertOpenAfter(stage, SESSION_MS - 10_000, [chat]);
    await tellPresence(stage);
    assert.equal((await stage.engine.counts("main")).onSite, 1);
  }
  await assertClosedAfter(stage, SESSION_MS + GRACE_MS, chat);
});

test("what the origin sends renews it too", async (t) => {
  const origin = await openOrigin(t);
  let talk = (_text: string) => {};
  origin.server.on("upgrade", (_request, socket) => {
    socket.on("error", () => {});
    talk = (text) => void socket.write(text);
    talk("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  });
  const stage = await openStage(t, { room: ROOM, origin });
  const { token } = await enter(stage);
  const chat = await Chat.open(stage, t, token);
  stage.world.pass(SESSION_MS - 10_000);
  talk("news");
  await until(() => chat.heard.endsWith("news"), "the news");
  await tellPresence(stage);
  stage.world.pass(SESSION_MS - 10_000);
  assert.ok(!chat.isClosed);
  assert.equal((await stage.engine.counts("main")).onSite, 1);
  await assertClosedAfter(stage, 10_000 + GRACE_MS, chat);
});

test("where visits are not renewed a connection does not renew them either", async (t) => {
  const stage = await openEcho(t, { room: { disableSessionRenewal: true } });
  const { token } = await enter(stage);
  const chat = await Chat.open(stage, t, token);
  await assertOpenAfter(stage, SESSION_MS / 2, [chat]);
  await assertOpenAfter(stage, SESSION_MS / 2, [chat]);
  await assertClosedAfter(stage, GRACE_MS, chat);
});

test("requests of the same visitor keep a silent connection open", async (t) => {
  const stage = await openEcho(t);
  const { visitor, token } = await enter(stage);
  const chat = await Chat.open(stage, t, token);
  for (let n = 0; n < 4; n++) {
    stage.world.pass(SESSION_MS - 10_000);
    assert.ok(await visitor.isIn());
  }
  assert.equal(chat.isClosed, false);
  await assertClosedAfter(stage, SESSION_MS + GRACE_MS, chat);
});

test("leaving ends all connections of the visit after the grace, and nobody else's", async (t) => {
  const stage = await openEcho(t);
  const { visitor, token } = await enter(stage);
  const other = await enter(stage);
  const chats = [await Chat.open(stage, t, token), await Chat.open(stage, t, token)];
  const others = await Chat.open(stage, t, other.token);
  assert.equal((await visitor.call("leave")).status, "left");
  await assertOpenAfter(stage, GRACE_MS - 2_000, [...chats, others]);
  stage.world.pass(2_000);
  await until(() => chats.every(({ isClosed }) => isClosed), "the end of the connections");
  await others.say("still here");
  assert.equal(stage.proxied.gateway.traffic.connectionsEnded, 2);
});

test("a slot that was left with a connection open is the next one's when that is closed, and without one at once", async (t) => {
  const stage = await openEcho(t);
  const [first, second] = [await enter(stage), await enter(stage)];
  const chat = await Chat.open(stage, t, first.token);
  const next = [stage.visitor(), stage.visitor()];
  for (const visitor of next) assert.equal(await visitor.isIn(), false);
  await first.visitor.call("leave");
  await second.visitor.call("leave");
  stage.world.pass(1_000);
  assert.deepEqual([await next[0]!.isIn(), await next[1]!.isIn()], [true, false]);
  await assertClosedAfter(stage, GRACE_MS - 1_000, chat);
  assert.equal(await next[1]!.isIn(), false);
  stage.world.pass(1_000);
  assert.equal(await next[1]!.isIn(), true);
});

test("a slot that was left or revoked is free as soon as its last connection is closed", async (t) => {
  const stage = await openEcho(t);
  const [left, revoked] = [await enter(stage), await enter(stage)];
  const ids = stage.origin.seen.map(({ headers }) => String(headers["fairgate-visitor"]));
  const chats = [await Chat.open(stage, t, left.token), await Chat.open(stage, t, revoked.token)];
  const second = await Chat.open(stage, t, left.token);
  const next = [stage.visitor(), stage.visitor()];
  for (const visitor of next) assert.equal(await visitor.isIn(), false);
  await left.visitor.call("leave");
  await stage.engine.revoke("main", ids[1]!);
  for (const { socket } of chats) socket.destroy();
  await until(() => stage.proxied.origins()[0]!.inFlight === 1, "the end of two connections");
  stage.world.pass(2_000);
  assert.deepEqual([await next[0]!.isIn(), await next[1]!.isIn()], [true, false], "one is open");
  second.socket.destroy();
  await until(() => stage.proxied.origins()[0]!.inFlight === 0, "the end of the last one");
  stage.world.pass(2_000);
  assert.equal(await next[1]!.isIn(), true);
});

test("a visit that was revoked, by an operator or the origin, ends its connections", async (t) => {
  const stage = await openEcho(t, {
    room: { enabledOriginCommands: ["revoke"] },
    answer: (request, response) => {
      if (request.url === "/goodbye") response.setHeader("Fairgate-Command", "revoke");
      response.end("the site");
    },
  });
  const first = await enter(stage);
  const second = await enter(stage);
  const chats = [await Chat.open(stage, t, first.token), await Chat.open(stage, t, second.token)];
  const origin = await first.visitor.open("/whoami");
  assert.equal(origin.status, 200);
  await first.visitor.open("/goodbye");
  const id = stage.origin.seen.map(({ headers }) => String(headers["fairgate-visitor"])).at(1)!;
  assert.equal(await stage.engine.revoke("main", id), true);
  stage.world.pass(GRACE_MS);
  await until(() => chats.every(({ isClosed }) => isClosed), "the end of the connections");
});

test("without a grace a connection ends with its visit at once", async (t) => {
  const stage = await openEcho(t, { room: { connectionGrace: "0s" } });
  const { visitor, token } = await enter(stage);
  const chat = await Chat.open(stage, t, token);
  await visitor.call("leave");
  await assertClosedAfter(stage, 1_000, chat);
});

test("a connection that came straight through with a pass of its own ends with that", async (t) => {
  const stage = await openEcho(t);
  const chat = await Chat.open(stage, t);
  assert.equal((await stage.engine.counts("main")).onSite, 1);
  await assertOpenAfter(stage, SESSION_MS - 10_000, [chat]);
  await tellPresence(stage);
  await assertClosedAfter(stage, SESSION_MS + GRACE_MS, chat);
});

test("connections outside every room, and past a line by a rule, belong to no visit and stay", async (t) => {
  const bypass = [{ name: "chat", path: ["/chat"] }];
  const stage = await openEcho(t, { room: { bypass } });
  const chat = await Chat.open(stage, t);
  await assertOpenAfter(stage, 10 * SESSION_MS, [chat]);
});

test("a first request that lasts long keeps its slot while it lasts, and no session beyond", async (t) => {
  let more = () => {};
  const stage = await openStage(t, {
    room: { totalActiveUsers: 2, sessionDuration: "100s", newcomerDuration: "9s" },
    answer: (_request, response) => {
      more = () => void response.write("more");
      response.write("first");
    },
  });
  const socket = net.connect(stage.port, "127.0.0.1");
  t.after(() => socket.destroy());
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk)).on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n");
  await until(() => heard.includes("first"), "the answer to begin");
  for (let n = 1; n <= 4; n++) {
    stage.world.pass(3_000);
    more();
    await until(() => heard.split("more").length > n, "more of it");
    await tellPresence(stage);
    assert.equal((await stage.engine.counts("main")).onSite, 1);
  }
  socket.destroy();
  await until(() => stage.underWay() === 0, "the end of the request");
  stage.world.pass(12_000);
  assert.equal((await stage.engine.counts("main")).onSite, 0);
});

test("where visits are not renewed, a first request that lasts ends after a session as any other", async (t) => {
  let more = () => {};
  const stage = await openStage(t, {
    room: { sessionDuration: "20s", newcomerDuration: "9s", disableSessionRenewal: true },
    answer: (_request, response) => {
      more = () => void response.write("more");
      response.write("first");
    },
  });
  const socket = net.connect(stage.port, "127.0.0.1");
  t.after(() => socket.destroy());
  let [heard, isClosed] = ["", false];
  socket.on("data", (chunk) => (heard += chunk)).on("error", () => {});
  socket.on("close", () => (isClosed = true));
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n");
  await until(() => heard.includes("first"), "the answer to begin");
  for (let second = 1; second < 20; second++) {
    more();
    await until(() => heard.split("more").length > second, "more of it");
    stage.world.pass(1_000);
  }
  assert.equal(isClosed, false);
  more();
  stage.world.pass(1_000);
  await until(() => isClosed, "the end of the stream");
});
