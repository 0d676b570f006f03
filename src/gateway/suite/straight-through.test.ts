/** While there is room there is no line: what a visitor gets, and what the origin is told of them. */
import assert from "node:assert/strict";
import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import { test } from "node:test";
import { openStage } from "../../testing/gateway/stage.ts";
import { proves } from "../../testing/requirements/proves.ts";

test(proves(["ce1"], "while there is room a visitor goes straight through and gets a pass"), async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 10 } });
  const visitor = stage.visitor();
  const answer = await visitor.open("/shop?item=1");
  assert.equal(answer.status, 200);
  assert.equal(answer.text, "the site");
  assert.equal(stage.origin.seen[0]!.url, "/shop?item=1");
  assert.match(
    answer.headers["set-cookie"]![0]!,
    /^fairgate_main=[\w-]+; Max-Age=86700; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  assert.equal((await stage.engine.counts("main")).onSite, 1);
});

test("a request with a pass costs no engine call", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 10 } });
  const visitor = await stage.occupant();
  const before = stage.engine.asked;
  for (let i = 0; i < 5; i++) {
    const answer = await visitor.open(`/page/${i}`);
    assert.equal(answer.text, "the site");
    assert.equal(answer.headers["set-cookie"], undefined);
  }
  assert.equal(stage.engine.asked, before);
  assert.equal((await stage.engine.counts("main")).onSite, 1);
});

test("the origin is told who the visitor is, and never sees our cookie", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 10 } });
  const visitor = stage.visitor();
  visitor.cookies.set("theme", "dark");
  await visitor.open();
  await visitor.open();
  for (const { headers } of stage.origin.seen) {
    assert.equal(headers["fairgate-room"], "main");
    assert.match(headers["fairgate-visitor"] as string, /^[0-9a-f]{32}$/);
    assert.equal(headers["fairgate-joined-at"], new Date(stage.world.clock.now()).toISOString());
    assert.equal(headers["fairgate-admitted-at"], new Date(stage.world.clock.now()).toISOString());
    assert.equal(headers.cookie, "theme=dark");
  }
  const [first, second] = stage.origin.seen;
  assert.equal(first!.headers["fairgate-visitor"], second!.headers["fairgate-visitor"]);
});

test("a visitor cannot forge what the origin is told", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 10 } });
  const visitor = stage.visitor();
  const forged = {
    "Fairgate-Room": "vip",
    "Fairgate-Visitor": "0".repeat(32),
    Fairgate_Visitor: "1".repeat(32),
    "fairgate-pass": "a.b.c",
    "FAIRGATE-Admitted-At": "2000-01-01T00:00:00.000Z",
  };
  await visitor.open("/", forged);
  await visitor.open("/", forged);
  assert.equal(stage.origin.seen.length, 2);
  for (const { headers, rawHeaders } of stage.origin.seen) {
    assert.equal(headers["fairgate-room"], "main");
    assert.match(headers["fairgate-visitor"] as string, /^(?!0+$|1+$)[0-9a-f]{32}$/);
    assert.doesNotMatch(rawHeaders.join("\n"), /vip|a\.b\.c|2000-01-01|0{32}|1{32}/);
  }
});

test("the origin can neither set nor read our names", async (t) => {
  const stage = await openStage(t, {
    room: { totalActiveUsers: 10 },
    answer: (_request, response) => {
      response.setHeader("set-cookie", ["fairgate_main=stolen; Path=/", "own=1"]);
      response.setHeader("fairgate-token", "stolen");
      response.end();
    },
  });
  const visitor = stage.visitor();
  const answer = await visitor.open();
  assert.equal(answer.headers["fairgate-token"], undefined);
  assert.doesNotMatch(answer.rawHeaders.join("\n"), /stolen/);
  assert.equal(visitor.cookies.get("own"), "1");
});

test("an upload with Expect: 100-continue is asked for once there is a pass", async (t) => {
  const stage = await openStage(t, {
    room: { totalActiveUsers: 10 },
    answer: async (request, response) => response.end(`got ${(await request.toArray()).join("")}`),
  });
  const request = http.request({
    port: stage.port,
    host: "127.0.0.1",
    method: "POST",
    headers: { expect: "100-continue", "content-length": 4 },
    agent: false,
  });
  request.on("continue", () => request.end("data")).flushHeaders();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  assert.equal((await response.toArray()).join(""), "got data");
});
