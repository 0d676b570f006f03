/** Origins that break off, refuse or go away over HTTP/2: nobody takes a part for the whole, and nobody pays for others. */
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { Http2ServerResponse, ServerHttp2Session } from "node:http2";
import { test } from "node:test";
import { handWorld } from "../../../sim/hand-world.ts";
import { END_HEADERS, END_STREAM } from "../../../testing/http2-frames.ts";
import {
  beginAnswer,
  fourBytes,
  OK,
  openFrames,
  openHttp2Origin,
  type RawConnection,
} from "../../../testing/proxy/http2-stage.ts";
import { askProxy, openProxyStage, readAnswer, talk, until } from "../../../testing/proxy/stage.ts";
import { CANCELS_MAX } from "../http2-session.ts";

const HTTP2 = { origin: { http2: "tls" } } as const;
const NO_ERROR = 0;
const INTERNAL_ERROR = 2;
const REFUSED_STREAM = 7;
const CANCEL = 8;

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

test("an answer that is reset, or whose connection goes, is broken off for its visitor", async (t) => {
  const breaks: Record<string, (connection: RawConnection, stream: number) => void> = {
    "reset without an error": (c, stream) =>
      c.send({ type: "rstStream", stream, payload: fourBytes(NO_ERROR) }),
    "reset, cancelled": (c, stream) => c.send({ type: "rstStream", stream, payload: fourBytes(CANCEL) }),
    "reset with an error": (c, stream) =>
      c.send({ type: "rstStream", stream, payload: fourBytes(INTERNAL_ERROR) }),
    "connection ended": (c) => c.socket.end(),
    "connection closed": (c) => c.socket.destroy(),
    "going away with an error": (c, stream) =>
      c.send({ type: "goaway", payload: Buffer.concat([fourBytes(stream), fourBytes(INTERNAL_ERROR)]) }),
    "not HTTP/2 any more": (c) => c.send({ type: "data", stream: 0, payload: Buffer.from("x") }),
  };
  let breakOff = () => {};
  const origin = await openFrames(t, (connection, stream) => {
    beginAnswer(connection, stream, "half");
    breakOff = () => how(connection, stream);
  });
  const { port, world, proxy } = await openProxyStage(t, [origin.address], HTTP2);
  let how = breaks["connection closed"]!;
  for (const [name, each] of Object.entries(breaks)) {
    how = each;
    const [response] = (await once(http.get({ port, host: "127.0.0.1", agent: false }), "response")) as [
      http.IncomingMessage,
    ];
    response.once("data", () => breakOff());
    await assert.rejects(readAnswer(response), name);
  }
  await until(() => proxy.inFlight() === 0);
  assert.equal(world.entries.filter(({ level }) => level === "error").length, 0);
});

test("an answer shorter or longer than its length is broken off, and its connection goes on", async (t) => {
  const length = Buffer.concat([OK, Buffer.from([0x0f, 0x0d, 0x02]), Buffer.from("10")]);
  let body = "";
  const origin = await openFrames(t, (connection, stream) => {
    connection.send({ type: "headers", flags: END_HEADERS, stream, payload: length });
    connection.send({ type: "data", flags: END_STREAM, stream, payload: Buffer.from(body) });
  });
  const { port } = await openProxyStage(t, [origin.address], HTTP2);
  for (body of ["short", "much longer than it said"]) {
    const heard = await talk(port, GET);
    assert.doesNotMatch(heard, /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n[\s\S]{10}/, body);
  }
  body = "0123456789";
  assert.equal((await askProxy(port)).body.toString(), body);
});

test("an answer that cannot be passed on is a problem page, and only its own", async (t) => {
  const literal = (name: string, value: string) =>
    Buffer.concat([
      Buffer.from([0x00, name.length]),
      Buffer.from(name, "latin1"),
      Buffer.from([value.length]),
      Buffer.from(value, "latin1"),
    ]);
  const heads: Record<string, Buffer> = {
    "no status": literal("a", "b"),
    "a status twice": Buffer.concat([OK, OK]),
    "a status that is none": literal(":status", "2000"),
    "another protocol": literal(":status", "101"),
    "a header of the connection": Buffer.concat([OK, literal("connection", "close")]),
    "a transfer coding": Buffer.concat([OK, literal("transfer-encoding", "chunked")]),
    "a path in an answer": Buffer.concat([OK, literal(":path", "/")]),
    capitals: Buffer.concat([OK, literal("A", "b")]),
  };
  const injections: Record<string, Buffer> = {
    "a line feed in a value": Buffer.concat([OK, literal("a", "b\r\nset-cookie: c=1")]),
    "a line feed in a name": Buffer.concat([OK, literal("a\r\nset-cookie", "c=1")]),
    "a zero byte in a value": Buffer.concat([OK, literal("a", "b\0set-cookie\0c=1")]),
  };
  let payload: Buffer = OK;
  const origin = await openFrames(t, (connection, stream) => {
    if (connection.opened.length === 1) return;
    connection.send({ type: "headers", flags: END_HEADERS | END_STREAM, stream, payload });
  });
  const { port, outcomes, proxy } = await openProxyStage(t, [origin.address], {
    ...HTTP2,
    time: handWorld(),
  });
  const bystander = http.get({ port, host: "127.0.0.1", agent: false });
  t.after(() => bystander.destroy());
  bystander.on("error", () => {});
  await until(() => origin.talks[0]?.opened.length === 1);
  for (const [name, head] of Object.entries(heads)) {
    payload = head;
    assert.match(await talk(port, GET, /\r\n\r\n/), /^HTTP\/1\.1 502 /, name);
  }
  for (const [name, head] of Object.entries(injections)) {
    payload = head;
    assert.doesNotMatch(await talk(port, GET, /\r\n\r\n/), /set-cookie|c=1/i, name);
  }
  assert.equal(outcomes.length, Object.keys(heads).length + Object.keys(injections).length);
  assert.equal(proxy.inFlight(), 1);
  assert.equal(origin.connections, 1);
});

test("a request that was refused is sent once more, with its body, and no third time", async (t) => {
  let refusals = 1;
  const origin = await openFrames(t, async (connection, stream, isWhole) => {
    const refuse = () => connection.send({ type: "rstStream", stream, payload: fourBytes(REFUSED_STREAM) });
    const answer = () => {
      beginAnswer(connection, stream, connection.data.get(stream) ?? "-");
      connection.send({ type: "data", flags: END_STREAM, stream });
    };
    const isRefused = refusals-- > 0;
    // Refused with the body on its way, or all of it here.
    await until(() => isWhole || connection.data.get(stream) === "form");
    if (isRefused) refuse();
    else answer();
  });
  const { port } = await openProxyStage(t, [origin.address], HTTP2);
  const post = { method: "POST", body: "form" };
  assert.equal((await askProxy(port, post)).body.toString(), "form");
  refusals = 1;
  assert.equal((await askProxy(port)).body.toString(), "-");
  refusals = 2;
  assert.equal((await askProxy(port, post)).status, 502);
  assert.equal(origin.talks[0]!.opened.length, 6);
});

test("an origin that goes away finishes what it has, and the rest goes over a new connection", async (t) => {
  const held: Http2ServerResponse[] = [];
  const sessions: ServerHttp2Session[] = [];
  const origin = await openHttp2Origin(t, (_request, response) => {
    held.push(response);
    response.write("be");
  });
  origin.server.on("session", (session) => sessions.push(session));
  const { port } = await openProxyStage(t, [origin.address], HTTP2);
  const first = askProxy(port);
  await until(() => held.length === 1);
  sessions[0]!.close();
  const others = Array.from({ length: 8 }, (_, i) =>
    askProxy(port, i % 2 === 0 ? {} : { method: "POST", body: "x" }),
  );
  await until(() => held.length === 9);
  for (const response of held) response.end("gun");
  for (const { body } of await Promise.all([first, ...others])) assert.equal(body.toString(), "begun");
  assert.equal(origin.connections, 2);
});

test("an origin that closes each connection after a few requests answers all of them", async (t) => {
  const counts = new Map<unknown, number>();
  let arrived = 0;
  const origin = await openHttp2Origin(t, async (request, response) => {
    const session = request.stream.session as ServerHttp2Session;
    const count = (counts.get(session) ?? 0) + 1;
    counts.set(session, count);
    arrived++;
    // As nginx does: what comes after the tenth it does not look at. GOAWAY says so.
    if (count > 10) return;
    // Late, so that a gateway that sends more than ten over one connection has done so.
    await until(() => arrived >= 40);
    if (count === 10) session.goaway(NO_ERROR, request.stream.id);
    response.end((await request.toArray()).join(""));
  });
  const { port } = await openProxyStage(t, [origin.address], HTTP2);
  const wrongAnswers = async (forms: string[]) => {
    counts.clear();
    arrived = 0;
    const answers = await Promise.all(forms.map((body) => askProxy(port, { method: "POST", body })));
    const wrong = answers.filter(({ body }, i) => body.toString() !== forms[i]);
    return wrong.map(({ status, body }) => `${status}, ${body.length} bytes`);
  };
  const forms = Array.from({ length: 40 }, (_, i) => `form ${i}`);
  assert.deepEqual(await wrongAnswers(forms), []);
  assert.equal([...counts.values()][0], 40);
  // Too large to be sent again, so none of them may be refused: how many a connection takes is known from those that were.
  const large = forms.map((form) => form.padEnd(80_000));
  assert.deepEqual(await wrongAnswers(large), []);
  assert.deepEqual([...counts.values()], [10, 10, 10, 10]);
});

test("how many requests a connection takes is known from two that ended after as many", async (t) => {
  const counts = new Map<unknown, number>();
  let [arrived, awaited] = [0, 0];
  const origin = await openHttp2Origin(t, async (request, response) => {
    const session = request.stream.session as ServerHttp2Session;
    const count = (counts.get(session) ?? 0) + 1;
    counts.set(session, count);
    arrived++;
    if (count > 10) return;
    await until(() => arrived >= awaited);
    if (count === 10) session.goaway(NO_ERROR, request.stream.id);
    response.end();
  });
  const { port } = await openProxyStage(t, [origin.address], HTTP2);
  for (let i = 0; i < 20; i++) assert.equal((await askProxy(port)).status, 200);
  assert.deepEqual([...counts.values()], [10, 10]);
  [arrived, awaited] = [0, 12];
  const answers = await Promise.all(Array.from({ length: 12 }, () => askProxy(port)));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.deepEqual([...counts.values()], [10, 10, 10, 2]);
});

test("a large upload at which the origin has not looked when it goes away is sent again whole", async (t) => {
  const WINDOW = 65_535;
  const sizes = (connection: RawConnection, stream: number) => connection.data.get(stream)?.length ?? 0;
  const origin = await openFrames(t, async (connection, stream, isWhole) => {
    const answer = () =>
      connection.send({ type: "headers", flags: END_HEADERS | END_STREAM, stream, payload: OK });
    if (isWhole) return answer();
    if (connection === origin.talks[0]) {
      await until(() => sizes(connection, stream) === WINDOW);
      const last = Buffer.concat([fourBytes(connection.opened[0]!), fourBytes(NO_ERROR)]);
      return connection.send({ type: "goaway", payload: last });
    }
    for (const id of [0, stream])
      connection.send({ type: "windowUpdate", stream: id, payload: fourBytes(10_000_000) });
    await until(() => sizes(connection, stream) === body.length);
    answer();
  });
  const body = Buffer.alloc(400_000);
  for (let i = 0; i < body.length; i++) body[i] = i % 251;
  const { port } = await openProxyStage(t, [origin.address], HTTP2);
  assert.equal((await askProxy(port)).status, 200);
  assert.equal((await askProxy(port, { method: "POST", body })).status, 200);
  const [, second] = origin.talks as [RawConnection, RawConnection];
  assert.ok(second.data.get(second.opened[0]!) === body.toString("latin1"));
});

test("an origin that is silent is a 504 for who asked, and gets no more requests on that connection", async (t) => {
  const time = handWorld();
  const origin = await openFrames(t, (connection, stream) => {
    if (connection === origin.talks[0] && connection.opened.length === 2) return;
    beginAnswer(connection, stream, "well");
    if (connection !== origin.talks[0]) connection.send({ type: "data", flags: END_STREAM, stream });
  });
  const settings = { http2: "tls", headersTimeout: 1_000 } as const;
  const { port } = await openProxyStage(t, [origin.address], { time, origin: settings });
  const bystander = askProxy(port);
  await until(() => origin.talks[0]?.opened.length === 1);
  const silent = askProxy(port);
  await until(() => origin.talks[0]?.opened.length === 2);
  time.pass(1_000);
  assert.equal((await silent).status, 504);
  const [old] = origin.talks as [RawConnection];
  await until(() => old.resets.size === 1);
  assert.deepEqual([...old.resets], [[old.opened[1], CANCEL]]);
  assert.equal((await askProxy(port)).body.toString(), "well");
  assert.equal(origin.connections, 2);
  old.send({ type: "data", flags: END_STREAM, stream: old.opened[0]! });
  assert.equal((await bystander).body.toString(), "well");
  await until(() => old.socket.destroyed);
});

test("visitors who leave by the hundred do not wear a connection out for others", async (t) => {
  const origin = await openFrames(t, (connection, stream) => {
    beginAnswer(connection, stream, "begun");
    if (connection !== origin.talks[0]) connection.send({ type: "data", flags: END_STREAM, stream });
  });
  const { port, proxy } = await openProxyStage(t, [origin.address], HTTP2);
  const leaving = Array.from({ length: CANCELS_MAX }, () =>
    http.get({ port, host: "127.0.0.1", agent: false }),
  );
  for (const request of leaving) request.on("error", () => {});
  await Promise.all(leaving.map((request) => once(request, "response")));
  for (const request of leaving) request.destroy();
  await until(() => proxy.inFlight() === 0);
  assert.equal(origin.connections, 1);
  assert.equal((await askProxy(port)).body.toString(), "begun");
  assert.equal(origin.connections, 2);
});

test("an origin that agrees to HTTP/2 and never begins to speak it is a 504", async (t) => {
  const time = handWorld();
  const origin = await openFrames(t, () => {});
  origin.server.removeAllListeners("secureConnection");
  let isConnected = false;
  origin.server.on("secureConnection", (socket) => {
    isConnected = true;
    t.after(() => socket.destroy());
  });
  const { port } = await openProxyStage(t, [origin.address], {
    time,
    origin: { http2: "tls", connectTimeout: 1_000 },
  });
  const answer = askProxy(port);
  await until(() => isConnected);
  // The session begins a moment after the connection.
  let status = 0;
  void answer.then((got) => (status = got.status));
  await until(() => {
    time.pass(1_000);
    return status !== 0;
  });
  assert.equal(status, 504);
});

test("an answer with too large a header is a problem page", async (t) => {
  const origin = await openHttp2Origin(t, (request, response) => {
    if (request.url === "/large")
      for (let i = 0; i < 20; i++) response.setHeader(`x-${i}`, "x".repeat(4_000));
    response.end("ok");
  });
  const { port } = await openProxyStage(t, [origin.address], HTTP2);
  assert.equal((await askProxy(port, { path: "/large" })).status, 502);
  assert.equal((await askProxy(port)).body.toString(), "ok");
});
