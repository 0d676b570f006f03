/** What the origin and the visitor get to see of each other's headers. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { test } from "node:test";
import {
  askProxy,
  openProxiedOrigin,
  openProxyStage,
  openRawOrigin,
  type ProxyStageOptions,
  talk,
} from "../../../testing/proxy/stage.ts";

/** An origin that answers with the header lines it got. */
async function echo(t: TestContext, options: ProxyStageOptions = {}) {
  const origin = await openProxiedOrigin(t, (request, response) => {
    response.end(JSON.stringify(request.rawHeaders));
  });
  const stage = await openProxyStage(t, [origin.address], options);
  const seen = async (headers: string[]): Promise<Record<string, string[]>> => {
    const raw: string[] = JSON.parse((await askProxy(stage.port, { headers })).body.toString());
    const lines: Record<string, string[]> = {};
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]!.toLowerCase();
      lines[name] = [...(lines[name] ?? []), raw[i + 1]!];
    }
    return lines;
  };
  return { origin, seen, port: stage.port };
}

test("hop-by-hop headers end at the proxy, those named by Connection too", async (t) => {
  const { seen } = await echo(t);
  const lines = await seen([
    ...[
      "Host",
      "shop.example",
      "Connection",
      "close, X-Private",
      "X-Private",
      "1",
      "Keep-Alive",
      "timeout=5",
    ],
    ...[
      "TE",
      "trailers",
      "Proxy-Connection",
      "keep-alive",
      "Proxy-Authorization",
      "Basic eA==",
      "Proxy",
      "http://evil",
    ],
    ...["X-Public", "1", "Accept", "a", "accept", "b"],
  ]);
  for (const gone of ["x-private", "keep-alive", "te", "proxy-connection", "proxy-authorization", "proxy"])
    assert.equal(lines[gone], undefined, gone);
  assert.deepEqual(lines.connection, ["keep-alive"]);
  assert.deepEqual(lines["x-public"], ["1"]);
  assert.deepEqual(lines.accept, ["a", "b"]);
});

test("our cookies stay with us, the site's own go on", async (t) => {
  const { seen } = await echo(t);
  const cookie = "a=1; fairgate_ticket_main=T; b=2; __Host-fairgate_pass_main=P; my_fairgate_=3";
  assert.deepEqual((await seen(["Host", "a", "Cookie", cookie])).cookie, ["a=1; b=2; my_fairgate_=3"]);
  assert.equal((await seen(["Host", "a", "Cookie", "fairgate_pass=P"])).cookie, undefined);
});

test("a visitor cannot forge what only the gateway says", async (t) => {
  const { seen } = await echo(t, { forward: () => ({ requestHeaders: ["Fairgate-Room", "main"] }) });
  const lines = await seen([
    ...[
      "Host",
      "a",
      "Fairgate-Room",
      "vip",
      "FAIRGATE-Pass",
      "x",
      "fairgate_room",
      "vip",
      "Fairgate.Room",
      "vip",
    ],
    ...["Connection", "Fairgate-Room, X-Forwarded-For, X-Request-Id"],
  ]);
  const ours = Object.keys(lines).filter((name) => name.startsWith("fairgate"));
  assert.deepEqual(ours, ["fairgate-room"]);
  assert.deepEqual(lines["fairgate-room"], ["main"]);
  assert.deepEqual(lines["x-forwarded-for"], ["127.0.0.1"]);
  assert.deepEqual(lines["x-request-id"], ["test-1"]);
});

test("what a stranger says about where a request came from is replaced", async (t) => {
  const { seen } = await echo(t);
  const lines = await seen([
    ...["Host", "shop.example:8080", "X-Forwarded-For", "1.2.3.4", "X-Forwarded-Proto", "https"],
    ...[
      "X-Forwarded-Host",
      "evil",
      "Forwarded",
      "for=1.2.3.4",
      "X-Real-IP",
      "1.2.3.4",
      "X_Forwarded_For",
      "1.2.3.4",
    ],
    ...["X-Forwarded-Port", "1", "X-Request-Id", "mine"],
  ]);
  assert.deepEqual(lines["x-forwarded-for"], ["127.0.0.1"]);
  assert.deepEqual(lines["x-forwarded-proto"], ["http"]);
  assert.deepEqual(lines["x-forwarded-host"], ["shop.example:8080"]);
  assert.deepEqual(lines.forwarded, ['for=127.0.0.1;host="shop.example:8080";proto=http']);
  assert.deepEqual(lines["x-request-id"], ["test-1"]);
  for (const gone of ["x-real-ip", "x_forwarded_for", "x-forwarded-port"])
    assert.equal(lines[gone], undefined, gone);
});

test("what a trusted proxy says is kept, and it is added to the lists", async (t) => {
  const { seen } = await echo(t, { trustedProxies: ["127.0.0.0/8"] });
  const lines = await seen([
    ...["Host", "inner", "X-Forwarded-For", "1.2.3.4, 10.0.0.9", "X-Forwarded-Proto", "https"],
    ...["X-Forwarded-Host", "shop.example", "Forwarded", "for=1.2.3.4;proto=https", "X-Request-Id", "theirs"],
    ...["X-Real-IP", "1.2.3.4", "X_Forwarded_For", "6.6.6.6"],
  ]);
  assert.deepEqual(lines["x-forwarded-for"], ["1.2.3.4, 10.0.0.9, 127.0.0.1"]);
  assert.deepEqual(lines["x-forwarded-proto"], ["https"]);
  // A host is believed only where the settings say so.
  assert.deepEqual(lines["x-forwarded-host"], ["inner"]);
  assert.deepEqual(lines.forwarded, ["for=1.2.3.4;host=inner;proto=https, for=127.0.0.1"]);
  assert.deepEqual(lines["x-request-id"], ["theirs"]);
  assert.deepEqual(lines["x-real-ip"], ["1.2.3.4"]);
  assert.equal(lines.x_forwarded_for, undefined);
  assert.deepEqual(lines.host, ["inner"]);
});

test("a host that a trusted proxy sets is the one the origin gets", async (t) => {
  const { seen } = await echo(t, { trustedProxies: ["127.0.0.0/8"], forwardedHost: true });
  const lines = await seen(["Host", "inner", "X-Forwarded-Host", "evil.example, shop.example"]);
  assert.deepEqual(lines.host, ["shop.example"]);
  assert.deepEqual(lines["x-forwarded-host"], ["shop.example"]);
  assert.deepEqual((await seen(["Host", "inner"])).host, ["inner"]);
});

test("the Host is the visitor's, the address's own, or a fixed one, by setting", async (t) => {
  const preserve = await echo(t);
  assert.deepEqual((await preserve.seen(["Host", "shop.example"])).host, ["shop.example"]);
  const own = await echo(t, { origin: { hostHeader: "origin" } });
  const lines = await own.seen(["Host", "shop.example"]);
  assert.deepEqual(lines.host, [`127.0.0.1:${own.origin.port}`]);
  assert.deepEqual(lines["x-forwarded-host"], ["shop.example"]);
  const fixed = await echo(t, { origin: { hostHeader: "inner.example" } });
  assert.deepEqual((await fixed.seen(["Host", "shop.example"])).host, ["inner.example"]);
});

test("the visitor gets our headers and none of the origin's that are ours to set", async (t) => {
  const origin = await openRawOrigin(t, (socket) => {
    socket.once("data", () => {
      socket.write(
        "HTTP/1.1 200 OK\r\nConnection: close, X-Private\r\nX-Private: 1\r\nFairgate-Pass: forged\r\nKeep-Alive: timeout=9\r\n" +
          "Set-Cookie: fairgate_pass_main=forged\r\nSet-Cookie: __Host-fairgate_ticket=forged\r\nSet-Cookie: own=1\r\n" +
          "Upgrade: h2c\r\nX-Public: 1\r\nContent-Length: 2\r\n\r\nok",
      );
    });
  });
  const { port } = await openProxyStage(t, [origin.address], {
    forward: () => ({
      responseHeaders: ["Set-Cookie", "fairgate_pass_main=real; HttpOnly", "Fairgate-Room", "main"],
    }),
  });
  const heard = await talk(port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  assert.doesNotMatch(heard, /forged|X-Private|h2c|timeout=9/);
  assert.match(heard, /Set-Cookie: own=1\r\nX-Public: 1\r\n/);
  assert.match(heard, /Set-Cookie: fairgate_pass_main=real; HttpOnly\r\nFairgate-Room: main\r\n/);
});

test("a repeated header keeps every line in order", async (t) => {
  const origin = await openProxiedOrigin(t, (request, response) => {
    response.end(
      JSON.stringify(
        request.rawHeaders.filter((_, i) => i % 2 === 1 && request.rawHeaders[i - 1] === "X-Many"),
      ),
    );
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const many = "X-Many: 1\r\nX-Other: y\r\nX-Many: 2\r\nX-Many: 3\r\n";
  const heard = await talk(port, `GET / HTTP/1.1\r\nHost: a\r\n${many}Connection: close\r\n\r\n`);
  assert.match(heard, /\["1","2","3"\]/);
});
