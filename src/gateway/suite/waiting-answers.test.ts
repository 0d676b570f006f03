/** A full room: what each kind of request gets at the address it asked for, and that the origin hears nothing of it. */
import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { openStage } from "../../testing/gateway/stage.ts";
import { assertWaitingPage, JSON_CLIENT, PAGE, talk } from "../../testing/gateway/visitor.ts";
import { until } from "../../testing/until.ts";

for (const queueingStatusCode of [200, 202, 429] as const) {
  test(`a page request gets the waiting page at its own address with status ${queueingStatusCode}`, async (t) => {
    const stage = await openStage(t, { room: { queueingStatusCode } });
    await stage.occupant();
    const visitor = stage.visitor();
    const answer = await visitor.open("/some/page?x=1");
    assertWaitingPage(answer, queueingStatusCode);
    assert.match(answer.headers["retry-after"]!, /^[1-9]\d*$/);
    assert.equal(answer.headers.location, undefined);
    assert.ok(visitor.token());
    assert.equal(stage.origin.seen.length, 1);
    assert.equal((await stage.engine.counts("main")).waiting, 1);
  });
}

test("coming again with the ticket shows the page again and takes no second place", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = stage.visitor();
  for (let i = 0; i < 3; i++) assertWaitingPage(await visitor.open());
  assert.equal(stage.engine.calls.join, 2);
  assert.equal((await stage.engine.counts("main")).waiting, 1);
});

test("an API client gets 429 with Retry-After and JSON that says where to go on", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = stage.visitor();
  const answer = await visitor.ask("/api/items", { headers: JSON_CLIENT });
  assert.equal(answer.status, 429);
  assert.match(answer.headers["content-type"]!, /^application\/json/);
  assert.equal(answer.headers["cache-control"], "no-store");
  const told = JSON.parse(answer.text);
  assert.equal(told.status, "waiting");
  assert.equal(told.room, "main");
  assert.equal(told.ahead, 0);
  assert.equal(told.checkIn, "/.fairgate/main/check-in");
  assert.equal(Number(answer.headers["retry-after"]), Math.ceil(told.nextCheckInMs / 1_000));
  assert.equal((await visitor.call("check-in")).sequence, told.sequence);
});

test("with jsonResponseEnabled off an API client gets the page", async (t) => {
  const stage = await openStage(t, { room: { jsonResponseEnabled: false } });
  await stage.occupant();
  assertWaitingPage(await stage.visitor().ask("/api/items", { headers: JSON_CLIENT }));
});

test("a script of a page that asks for anything is told where to join, and gets no place by that", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const headers = { accept: "*/*", "sec-fetch-dest": "empty" };
  const answer = await stage.visitor().ask("/part", { method: "POST", headers });
  assert.deepEqual([answer.status, answer.headers["fairgate-status"]], [429, "refused"]);
  const { reason, join } = JSON.parse(answer.text);
  assert.deepEqual([reason, join], ["mustWait", "/.fairgate/main/join"]);
  assert.equal((await stage.engine.counts("main")).waiting, 0);
});

for (const [what, headers] of [
  ["an image", { accept: "image/avif,image/webp,*/*;q=0.8", "sec-fetch-dest": "image" }],
  ["a script", { accept: "*/*", "sec-fetch-dest": "script" }],
  ["a style sheet of an old browser", { accept: "text/css" }],
  ["a program that takes anything", { accept: "*/*" }],
] as const) {
  test(`${what} gets a short 429 and no place`, async (t) => {
    const stage = await openStage(t);
    await stage.occupant();
    const answer = await stage.visitor().ask("/part", { headers });
    assert.equal(answer.status, 429);
    assert.match(answer.headers["content-type"]!, /^text\/plain/);
    assert.equal(answer.headers["cache-control"], "no-store");
    assert.match(answer.headers["retry-after"]!, /^[1-9]\d*$/);
    assert.equal(answer.headers["set-cookie"], undefined);
    assert.match(answer.text, /^Waiting room: [^\n]{20,200}\n$/);
    const { waiting, lapsed } = await stage.engine.counts("main");
    assert.deepEqual({ waiting, lapsed }, { waiting: 0, lapsed: 0 });
    assert.equal(stage.origin.seen.length, 1);
  });
}

test("HEAD gets the waiting page's headers and no body", async (t) => {
  const stage = await openStage(t, { room: { queueingStatusCode: 202 } });
  await stage.occupant();
  const head = "HEAD / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n";
  const heard = await talk(stage.port, `${head}\r\n${head}Connection: close\r\n\r\n`);
  assert.equal(heard.match(/HTTP\/1\.1 202 /g)?.length, 2);
  assert.match(heard, /content-length: [1-9]/i);
  assert.doesNotMatch(heard, /<html/);
});

test("a form is refused with word that nothing was sent, and not a byte of it reaches the origin", async (t) => {
  const stage = await openStage(t, { room: { queueingStatusCode: 200 } });
  await stage.occupant();
  const before = { seen: stage.origin.seen.length, connections: stage.origin.connections };
  const headers = { ...PAGE, "content-type": "application/x-www-form-urlencoded" };
  const visitor = stage.visitor();
  const answer = await visitor.ask("/order", { method: "POST", headers, body: "item=1&count=2" });
  assertWaitingPage(answer, 429);
  assert.match(answer.text, /was not sent/);
  assert.match(answer.headers["retry-after"]!, /^[1-9]\d*$/);
  assert.ok(visitor.token());
  assert.deepEqual({ seen: stage.origin.seen.length, connections: stage.origin.connections }, before);
  assert.equal(stage.proxied.gateway.traffic.requests.refusedForms, 1);
});

test("a large upload is refused in a way its sender can read, and the connection goes on or closes", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const body = Buffer.alloc(3_000_000, "x");
  const answer = await stage.visitor().ask("/upload", { method: "POST", headers: PAGE, body });
  assertWaitingPage(answer, 429);
  assert.equal(stage.origin.seen.length, 1);
});

test("a refused form ends its connection, so that what follows it cannot be misread", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const form = "POST /order HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nContent-Length: 6\r\n\r\nitem=1";
  const board = "GET /.fairgate/main/board HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const heard = await talk(stage.port, form + board);
  assert.match(heard, /^HTTP\/1\.1 429 /);
  assert.match(heard, /\r\nConnection: close\r\n/i);
  assert.doesNotMatch(heard, /HTTP\/1\.1 200 OK/);
});

test("someone who asks before sending a form is not told to send it", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const form =
    "POST /order HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n";
  const heard = await talk(stage.port, form, /<\/html>/);
  assert.match(heard, /^HTTP\/1\.1 429 /);
  assert.doesNotMatch(heard, /100 Continue/);
  // Whether the form still comes is for its sender to decide, so what follows could be read in two ways.
  assert.match(heard, /\r\nConnection: close\r\n/i);
  assert.equal(stage.origin.seen.length, 1);
});

test("an upgrade without a pass is refused with 429 and takes no place", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const heard = await talk(
    stage.port,
    "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  );
  assert.match(heard, /^HTTP\/1\.1 429 /);
  assert.match(heard, /\r\nRetry-After: [1-9]/);
  assert.equal((await stage.engine.counts("main")).waiting, 0);
  assert.equal(stage.origin.seen.length, 1);
});

test("a refused upgrade's connection is not kept for a client that does not close it", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const socket = net.connect({ port: stage.port, host: "127.0.0.1", allowHalfOpen: true });
  t.after(() => socket.destroy());
  socket.write("GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  let isCut = false;
  socket.on("error", () => {
    isCut = true;
  });
  socket.resume();
  await new Promise((resolve) => socket.on("end", resolve));
  // A connection the gateway has let go of answers what is still sent with a reset.
  await until(() => {
    if (!isCut) socket.write("x");
    return isCut;
  }, "the end of the connection");
});
