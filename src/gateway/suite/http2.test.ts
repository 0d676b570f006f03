/** With a certificate: the same visit over HTTP/2, with the secure cookie that only https has. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import http2, {
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import https from "node:https";
import { type TestContext, test } from "node:test";
import { openStage, type Stage, TLS } from "../../testing/gateway/stage.ts";
import { EventReader, PAGE, Visitor } from "../../testing/gateway/visitor.ts";
import { until } from "../../testing/until.ts";

const NAME = "__Host-fairgate_main";

interface Answer2 {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A visitor with one HTTP/2 connection. */
class Visitor2 {
  readonly jar: Visitor;
  readonly session: ClientHttp2Session;

  constructor(stage: Stage, test: TestContext) {
    this.jar = new Visitor(stage.port, test);
    this.session = http2.connect(`https://localhost:${stage.port}`, {
      ca: readFileSync(TLS.certificateFile),
    });
    this.session.on("error", () => {});
    test.after(() => this.session.destroy());
  }

  start(headers: OutgoingHttpHeaders, body?: string) {
    // One header per cookie, as browsers send them over HTTP/2.
    const cookie = [...this.jar.cookies].map(([name, value]) => `${name}=${value}`);
    const stream = this.session.request(
      { ...(cookie.length > 0 ? { cookie } : {}), ...headers },
      { endStream: body === undefined },
    );
    if (body !== undefined) stream.end(body);
    return stream;
  }

  async ask(headers: OutgoingHttpHeaders, body?: string): Promise<Answer2> {
    const stream = this.start(headers, body);
    const answer = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
      stream.on("response", resolve).on("error", reject);
    });
    this.jar.keep(answer["set-cookie"] ?? []);
    return { headers: answer, text: (await stream.setEncoding("utf8").toArray()).join("") };
  }

  open(path = "/"): Promise<Answer2> {
    return this.ask({ ...PAGE, ":path": path });
  }

  async call(endpoint: string) {
    const { text } = await this.ask({ ":method": "POST", ":path": `/.fairgate/main/${endpoint}` });
    return JSON.parse(text);
  }

  listen(): EventReader {
    const reader = new EventReader();
    const stream = this.start({ ":path": "/.fairgate/main/events" });
    stream.setEncoding("utf8").on("data", (text: string) => reader.read(text));
    stream.on("response", (headers) => {
      reader.status = headers[":status"]!;
    });
    stream
      .on("error", () => {})
      .on("close", () => {
        reader.isOver = true;
      });
    return reader;
  }
}

function openTlsStage(t: TestContext): Promise<Stage> {
  return openStage(t, { settings: { tls: TLS } });
}

test("over HTTP/2 a visitor goes through, with a cookie that is bound to the host and to https", async (t) => {
  const stage = await openTlsStage(t);
  const visitor = new Visitor2(stage, t);
  visitor.jar.cookies.set("theme", "dark");
  const answer = await visitor.open("/shop");
  assert.equal(answer.headers[":status"], 200);
  assert.equal(answer.text, "the site");
  assert.match(
    answer.headers["set-cookie"]![0]!,
    /^__Host-fairgate_main=[\w-]+; Max-Age=86700; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  const before = stage.engine.asked;
  assert.equal((await visitor.open("/more")).text, "the site");
  assert.equal(stage.engine.asked, before);
  const { headers } = stage.origin.seen.at(-1)!;
  assert.equal(headers["fairgate-room"], "main");
  assert.equal(headers.cookie, "theme=dark");
  assert.equal(headers["x-forwarded-proto"], "https");
});

test("over HTTP/2 a visitor waits, checks in, hears the turn and enters", async (t) => {
  const stage = await openTlsStage(t);
  const occupant = new Visitor2(stage, t);
  await occupant.open();
  const visitor = new Visitor2(stage, t);
  const page = await visitor.open("/shop");
  assert.equal(page.headers[":status"], 200);
  assert.equal(page.headers["cache-control"], "no-store");
  assert.match(page.text, /fairgate-data/);
  assert.ok(visitor.jar.cookies.has(NAME));
  assert.equal((await visitor.call("join")).status, "waiting");
  assert.equal((await visitor.call("check-in")).ahead, 0);
  const stream = visitor.listen();
  await stream.heard("board");
  stage.world.pass(1_000);
  await stream.heard("board", 2);
  assert.equal((await occupant.call("leave")).status, "left");
  assert.ok(!occupant.jar.cookies.has(NAME));
  stage.world.pass(1_000);
  await stream.heard("turn");
  assert.equal((await visitor.open("/shop")).text, "the site");
  assert.equal((await stage.engine.counts("main")).totals.joined, 2);
  stage.proxied.gateway.closeStreams();
  stage.proxied.gateway.closeStreams();
  await until(() => stream.isOver, "the end of the stream");
  assert.equal(stream.count("bye"), 1);
  assert.deepEqual(stage.errors(), []);
});

test("over HTTP/2 a form is refused and the connection goes on; HEAD has no body", async (t) => {
  const stage = await openTlsStage(t);
  await new Visitor2(stage, t).open();
  const visitor = new Visitor2(stage, t);
  const form = await visitor.ask({ ...PAGE, ":method": "POST", ":path": "/order" }, "x".repeat(500_000));
  assert.equal(form.headers[":status"], 429);
  assert.match(form.text, /was not sent/);
  const head = await visitor.ask({ ...PAGE, ":method": "HEAD" });
  assert.equal(head.headers[":status"], 200);
  assert.equal(head.text, "");
  const board = await visitor.ask({ ":path": "/.fairgate/main/board" });
  assert.equal(JSON.parse(board.text).room, "main");
  const boardHead = await visitor.ask({ ":method": "HEAD", ":path": "/.fairgate/main/board" });
  assert.equal(boardHead.headers[":status"], 200);
  assert.equal(stage.origin.seen.length, 1);
  assert.deepEqual(stage.errors(), []);
});

test("the plain cookie is no cookie over https", async (t) => {
  const stage = await openTlsStage(t);
  const occupant = new Visitor2(stage, t);
  await occupant.open();
  const thief = new Visitor2(stage, t);
  thief.jar.cookies.set("fairgate_main", occupant.jar.cookies.get(NAME)!);
  assert.match((await thief.open()).text, /fairgate-data/);
  assert.equal((await stage.engine.counts("main")).waiting, 1);
});

test("HTTP/1.1 on the same port is the same visit", async (t) => {
  const stage = await openTlsStage(t);
  const visitor = new Visitor2(stage, t);
  await visitor.open();
  const headers = { cookie: `${NAME}=${visitor.jar.cookies.get(NAME)}` };
  const request = https.get({
    host: "localhost",
    port: stage.port,
    headers,
    ca: readFileSync(TLS.certificateFile),
    agent: false,
  });
  const text = await new Promise<string>((resolve, reject) => {
    request
      .on("error", reject)
      .on("response", async (response) => resolve((await response.toArray()).join("")));
  });
  assert.equal(text, "the site");
  assert.equal((await stage.engine.counts("main")).onSite, 1);
});

test("behind a proxy that speaks https for us the cookie is secure too, and only then", async (t) => {
  const behind = await openStage(t, { settings: { trustedProxies: ["127.0.0.1"] } });
  const headers = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
  const answer = await behind.visitor().open("/", headers);
  assert.match(answer.headers["set-cookie"]![0]!, /^__Host-fairgate_main=.*; Secure$/);
  const alone = await openStage(t);
  const claimed = await alone.visitor().open("/", headers);
  assert.match(claimed.headers["set-cookie"]![0]!, /^fairgate_main=(?!.*Secure)/);
});
