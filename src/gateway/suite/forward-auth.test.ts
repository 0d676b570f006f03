/** What a proxy that asks about its requests is answered, in each dialect; and what everybody else is who asks. */
import assert from "node:assert/strict";
import net from "node:net";
import { type TestContext, test } from "node:test";
import type { RoomInput } from "../../config/schema.ts";
import { newCode } from "../../testing/gateway/lane-code.ts";
import { openStage, type Stage, type StageOptions } from "../../testing/gateway/stage.ts";
import { type HttpAnswer as Answer, JSON_CLIENT, PAGE } from "../../testing/gateway/visitor.ts";
import { ORIGIN_HEADERS } from "../tokens/origin-token.ts";

const DIALECTS = ["nginx", "caddy", "haproxy", "traefik", "envoy"] as const;
type Dialect = (typeof DIALECTS)[number];
type Headers = Readonly<Record<string, string | string[]>>;

interface About {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: Headers;
}

const openDoor = (test: TestContext, room: RoomInput = {}, settings: StageOptions["settings"] = {}) =>
  openStage(test, { room, settings: { forwardAuth: true, trustedProxies: ["127.0.0.1"], ...settings } });

/** Asks as this proxy would for a visitor at 192.0.2.7. */
function ask(stage: Stage, dialect: Dialect, about: About = {}): Promise<Answer> {
  const { method = "GET", target = "/", headers = PAGE } = about;
  const from = { "x-forwarded-for": "192.0.2.7", "x-forwarded-proto": "http", host: "shop.example" };
  const own = `/.fairgate/auth/${dialect}`;
  if (dialect === "envoy")
    return stage.visitor().ask(own + target, { method, headers: { ...from, ...headers } });
  const kind = dialect === "nginx" || dialect === "haproxy" ? "x-original" : "x-forwarded";
  const asked = {
    [`${kind}-method`]: method,
    [`${kind}-uri`]: target,
    ...(kind === "x-forwarded" && { "x-forwarded-host": "shop.example", host: "127.0.0.1" }),
  };
  return stage.visitor().ask(own, { headers: { ...from, ...asked, ...headers } });
}

const auth = ({ headers }: Answer) => headers["fairgate-auth"];

/** The cookie that an answer gives, as it is sent back. */
function cookieOf({ headers }: Answer): Headers {
  const [given = ""] = headers["set-cookie"] ?? [];
  return { cookie: given.split(";", 1)[0]! };
}

test("who may not ask finds nothing there", async (t) => {
  for (const [forwardAuth, trusted] of [
    [false, "127.0.0.1"],
    [true, "192.0.2.1"],
  ] as const) {
    const stage = await openDoor(t, {}, { forwardAuth, trustedProxies: [trusted] });
    const asked = stage.engine.asked;
    for (const dialect of DIALECTS) {
      const answer = await ask(stage, dialect);
      assert.equal(answer.status, 404, dialect);
      assert.deepEqual(JSON.parse(answer.text), { error: "no such address" });
      assert.equal(auth(answer), undefined);
      assert.equal(answer.headers["set-cookie"], undefined);
    }
    assert.equal(stage.engine.asked, asked);
  }
});

test("a pass says so in each dialect, with the visitor's cookie and all that the site may be told", async (t) => {
  for (const dialect of DIALECTS) {
    const stage = await openDoor(t, { bypass: [{ name: "assets", path: ["/assets"] }] });
    const first = await ask(stage, dialect);
    assert.equal(first.status, dialect === "nginx" || dialect === "envoy" ? 200 : 204, dialect);
    assert.equal(auth(first), "pass");
    assert.equal(first.headers["x-accel-redirect"], dialect === "nginx" ? "@passed" : undefined);
    assert.equal(first.headers["set-cookie"]?.length, 1);
    assert.match(String(first.headers["fairgate-visitor"]), /^[0-9a-f]{32}$/);
    const again = await ask(stage, dialect, { headers: { ...PAGE, ...cookieOf(first) } });
    assert.equal(again.headers["fairgate-visitor"], first.headers["fairgate-visitor"]);
    // A proxy that copies what it is told would otherwise leave a visitor's own header in place.
    const past = await ask(stage, dialect, {
      target: "/assets/a.css",
      headers: { "fairgate-room": "forged" },
    });
    assert.equal(auth(past), "pass");
    for (const name of ORIGIN_HEADERS) assert.equal(past.headers[name.toLowerCase()], "", name);
    assert.equal(stage.origin.seen.length, 0);
  }
});

test("who waits gets their answer, with a status that this proxy does not take for a pass or a failure", async (t) => {
  for (const dialect of DIALECTS) {
    const stage = await openDoor(t);
    await ask(stage, dialect);
    const page = await ask(stage, dialect, { target: "/tickets" });
    const isKept = dialect === "nginx" || dialect === "haproxy";
    assert.equal(page.status, isKept ? 200 : 429, dialect);
    assert.match(page.text, /You are next/);
    assert.equal(auth(page), "stop");
    assert.equal(page.headers["x-accel-redirect"], undefined);
    const waiting = await ask(stage, dialect, { headers: { ...JSON_CLIENT, ...cookieOf(page) } });
    assert.equal(waiting.status, 429);
    assert.equal(JSON.parse(waiting.text).ahead, 0);
    const form = await ask(stage, dialect, { method: "POST" });
    assert.equal(form.status, 429);
    stage.engine.broken = "throws";
    const away = await ask(stage, dialect);
    assert.equal(away.status, dialect === "envoy" ? 429 : 503);
    assert.equal(auth(away), "stop");
  }
});

test("a question that does not say what it is about is refused, and nobody joins", async (t) => {
  const stage = await openDoor(t);
  const asked = stage.engine.asked;
  const from = { ...PAGE, host: "shop.example" };
  const sound = { "x-original-method": "GET", "x-original-uri": "/" };
  const bad: [Headers, number][] = [
    [{}, 400],
    [{ "x-original-method": "GET" }, 400],
    [{ "x-original-uri": "/" }, 400],
    // Twice: the proxy's own, and a visitor's that it should have replaced.
    [{ ...sound, "x-original-method": ["GET", "POST"] }, 400],
    [{ ...sound, "x-original-uri": ["/", "/other"] }, 400],
    [{ ...sound, "x-original-uri": "elsewhere" }, 400],
    [{ ...sound, "x-original-uri": "/a#b" }, 400],
    [{ ...sound, "x-original-method": "TRACE" }, 405],
  ];
  for (const [headers, status] of bad) {
    const answer = await stage.visitor().ask("/.fairgate/auth/nginx", { headers: { ...from, ...headers } });
    assert.equal(answer.status, status, JSON.stringify(headers));
    assert.equal(auth(answer), "stop");
  }
  for (const path of ["/.fairgate/auth/", "/.fairgate/auth/apache", "/.fairgate/auth/toString"])
    assert.equal((await stage.visitor().ask(path, { headers: from })).status, 404);
  const own = await ask(stage, "caddy", { target: "/.fairgate/main/board" });
  assert.deepEqual([own.status, auth(own)], [404, "stop"]);
  assert.equal(stage.engine.asked, asked);
});

test("a path with two meanings is left for its plain form, since the proxy would send it on as it is", async (t) => {
  const rooms = { main: { totalActiveUsers: 9 }, shop: { path: "/shop", totalActiveUsers: 9 } };
  for (const dialect of DIALECTS) {
    const stage = await openDoor(t, {}, { rooms });
    const odd = await ask(stage, dialect, { target: "/a/..//shop/x?y=1" });
    assert.deepEqual([odd.status, auth(odd)], [308, "stop"], dialect);
    const plain = "/shop/x?y=1";
    assert.equal(odd.headers.location, dialect === "traefik" ? `http://shop.example${plain}` : plain);
    assert.match(odd.headers["set-cookie"]![0]!, /^fairgate_shop=/);
    assert.equal(
      auth(await ask(stage, dialect, { target: plain, headers: { ...PAGE, ...cookieOf(odd) } })),
      "pass",
    );
  }
});

test("a program gets its token with its pass, or before it where it would be lost", async (t) => {
  for (const dialect of DIALECTS) {
    const stage = await openDoor(t);
    let answer = await ask(stage, dialect, { headers: { ...JSON_CLIENT, "fairgate-token": "new" } });
    const token = String(answer.headers["fairgate-token"]);
    if (dialect === "traefik") {
      assert.deepEqual([answer.status, answer.headers["retry-after"]], [429, "1"]);
      answer = await ask(stage, dialect, { headers: { ...JSON_CLIENT, "fairgate-token": token } });
    }
    assert.equal(auth(answer), "pass", dialect);
    assert.match(token, /.{40}/);
  }
});

test("an upgrade that a proxy asks about is answered, whether or not the question is one itself", async (t) => {
  const stage = await openDoor(t);
  const socket = { "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==" };
  const visitor = cookieOf(await ask(stage, "caddy"));
  assert.equal(auth(await ask(stage, "caddy", { headers: { ...socket, ...visitor } })), "pass");
  const refused = await ask(stage, "caddy", { headers: { ...PAGE, ...socket } });
  assert.deepEqual([refused.status, refused.text], [429, ""]);
  const lines = [
    "GET /.fairgate/auth/caddy HTTP/1.1",
    ...[
      "Host: x",
      "Connection: Upgrade",
      "Upgrade: websocket",
      `Sec-WebSocket-Key: ${socket["sec-websocket-key"]}`,
    ],
    ...["X-Forwarded-Method: GET", "X-Forwarded-Uri: /chat", "X-Forwarded-Host: shop.example"],
  ];
  for (const [cookie, head] of [
    [`Cookie: ${visitor.cookie}`, /^HTTP\/1\.1 204 .*Fairgate-Auth: pass/s],
    ["Cookie: none=1", /^HTTP\/1\.1 429 .*Fairgate-Auth: stop/s],
  ] as const) {
    const connection = net.connect(stage.port, "127.0.0.1");
    connection.write(`${[...lines, cookie].join("\r\n")}\r\n\r\n`);
    assert.match((await connection.setEncoding("latin1").toArray()).join(""), head);
  }
});

test("the access log tells of the request that was asked about", async (t) => {
  const stage = await openDoor(t);
  await ask(stage, "nginx", { method: "POST", target: "/buy?a=1" });
  const [line] = stage.accesses;
  assert.deepEqual(
    [line!.method, line!.path, line!.host, line!.address, line!.decision, line!.room],
    ["POST", "/buy?a=1", "shop.example", "192.0.2.7", "entered", "main"],
  );
});

test("a visitor who is sent on to a plain form stays at the site", async (t) => {
  const lanes = { vip: { privileged: true, members: { codes: true } } } satisfies RoomInput["lanes"];
  for (const dialect of DIALECTS) {
    const stage = await openDoor(t, { lanes });
    const target = `//elsewhere.example/a?fairgate_code=${newCode()}`;
    const answer = await ask(stage, dialect, { method: "POST", target });
    assert.equal(answer.status, 308, dialect);
    assert.match(answer.headers.location!, /^(http:\/\/shop\.example)?\/elsewhere\.example\/a$/);
  }
});

test("the host is the one that the proxy names, whatever the visitor says", async (t) => {
  const rooms = {
    shop: { host: "shop.example", totalActiveUsers: 9 },
    other: { host: "other.example", totalActiveUsers: 9 },
  };
  const forged = { "x-forwarded-host": "other.example", forwarded: "for=192.0.2.9;host=other.example" };
  for (const dialect of ["nginx", "haproxy", "envoy"] as const) {
    const stage = await openDoor(t, {}, { rooms, forwardedHost: true });
    const answer = await ask(stage, dialect, { headers: { ...PAGE, ...forged } });
    assert.equal(answer.headers["fairgate-room"], "shop", dialect);
  }
});
