import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  isNeverSent,
  type RequestContext,
  requestHeaders,
  responseHeaders,
  stripCookies,
} from "./headers.ts";

const stranger = { protocol: "http", host: "shop.example", peer: "203.0.113.7", isPeerTrusted: false };
const context: RequestContext = {
  client: stranger,
  host: "shop.example",
  id: "id-1",
  added: [],
  upgrade: null,
};
const trusting: RequestContext = {
  ...context,
  client: { ...stranger, peer: "10.0.0.1", isPeerTrusted: true },
};

const OWN = [
  ...["Host", "shop.example", "X-Forwarded-For", "203.0.113.7", "X-Forwarded-Host", "shop.example"],
  ...[
    "X-Forwarded-Proto",
    "http",
    "Forwarded",
    "for=203.0.113.7;host=shop.example;proto=http",
    "X-Request-Id",
    "id-1",
  ],
];

/** All values of a header in a flat list. */
function values(list: readonly string[], name: string): string[] {
  return list.filter((_, i) => i % 2 === 1 && list[i - 1]!.toLowerCase() === name);
}

test("ordinary headers go on in order, with case and duplicates, and ours follow", () => {
  const raw = ["Host", "ignored", "ACCEPT", "a", "x-B", "1", "Accept", "b", "x-b", "2"];
  assert.deepEqual(requestHeaders(raw, context), [
    "ACCEPT",
    "a",
    "x-B",
    "1",
    "Accept",
    "b",
    "x-b",
    "2",
    ...OWN,
  ]);
});

test("the gateway's own headers come last and cannot be removed by Connection", () => {
  const added = ["Fairgate-Room", "main"];
  const list = requestHeaders(["Connection", "Fairgate-Room, Host, X-Forwarded-For, Forwarded"], {
    ...context,
    added,
  });
  assert.deepEqual(list, [...OWN, ...added]);
});

test("Connection removes what it names, but never the length or type of a body", () => {
  const raw = [
    "Connection",
    "Content-Length, X-A, Content-Type",
    "Content-Length",
    "3",
    "Content-Type",
    "t",
    "X-A",
    "1",
  ];
  assert.deepEqual(requestHeaders(raw, context), ["Content-Length", "3", "Content-Type", "t", ...OWN]);
  const cookies = requestHeaders(["Connection", "cookie", "Cookie", "a=1"], context);
  assert.deepEqual(values(cookies, "cookie"), []);
});

test("an upgrade keeps its two headers, cleaned", () => {
  const raw = ["Connection", "keep-alive, Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Key", "k"];
  const list = requestHeaders(raw, { ...context, upgrade: "websocket" });
  assert.deepEqual(list, ["Sec-WebSocket-Key", "k", ...OWN, "Connection", "Upgrade", "Upgrade", "websocket"]);
});

test("cookie crumbs of HTTP/2 are joined and its pseudo-headers left out", () => {
  const raw = [
    ":method",
    "GET",
    ":authority",
    "shop.example",
    "cookie",
    "a=1",
    "cookie",
    "fairgate_x=2",
    "cookie",
    "b=3",
  ];
  assert.deepEqual(requestHeaders(raw, context), ["Cookie", "a=1; b=3", ...OWN]);
});

test("a missing Host setting leaves Host to the HTTP client", () => {
  assert.deepEqual(values(requestHeaders(["Host", "a"], { ...context, host: null }), "host"), []);
});

test("an IPv6 peer is written as each of the two lists wants it", () => {
  const list = requestHeaders([], { ...context, client: { ...stranger, peer: "2001:db8::1" } });
  assert.deepEqual(values(list, "x-forwarded-for"), ["2001:db8::1"]);
  assert.deepEqual(values(list, "forwarded"), ['for="[2001:db8::1]";host=shop.example;proto=http']);
});

test("a trusted proxy that speaks only one of the two languages is translated into the other", () => {
  const old = requestHeaders(["X-Forwarded-For", "198.51.100.1, 10.0.0.2", "X-Forwarded-Proto", "https"], {
    ...trusting,
    client: { ...trusting.client, protocol: "https" },
  });
  assert.deepEqual(values(old, "x-forwarded-for"), ["198.51.100.1, 10.0.0.2, 10.0.0.1"]);
  assert.deepEqual(values(old, "forwarded"), [
    "for=198.51.100.1;host=shop.example;proto=https, for=10.0.0.2, for=10.0.0.1",
  ]);
  const modern = requestHeaders(
    ["Forwarded", 'for="[2001:db8::1]:4711";proto=https, for=10.0.0.2'],
    trusting,
  );
  assert.deepEqual(values(modern, "x-forwarded-for"), ["2001:db8::1, 10.0.0.2, 10.0.0.1"]);
  assert.deepEqual(values(modern, "forwarded"), [
    'for="[2001:db8::1]";host=shop.example;proto=https, for=10.0.0.2, for=10.0.0.1',
  ]);
});

test("the origin is told the host that was routed, whatever a proxy hands on", () => {
  const claims = ["X-Forwarded-Host", "evil", "X_Forwarded_Host", "evil", "X-Forwarded-For", "198.51.100.1"];
  const forwarded = 'for=6.6.6.6;host=evil;proto="https;host=evil", for=198.51.100.1;host="evil";by=a';
  for (const raw of [claims, [...claims, "Forwarded", forwarded]])
    for (const isPeerTrusted of [true, false]) {
      const list = requestHeaders(raw, { ...context, client: { ...stranger, isPeerTrusted } });
      assert.deepEqual(values(list, "x-forwarded-host"), ["shop.example"]);
      assert.equal(values(list, "forwarded").join().match(/host=/g)?.length, 1);
      assert.ok(!list.join().includes("evil"), list.join());
    }
});

test("nobody tells the origin another path than the one that was routed", () => {
  const names = [
    ...["X-Original-URL", "x-rewrite-url", "X_Original_URL", "X-Original-URI", "X-Script-Name"],
    ...["SCRIPT_NAME", "Script-Name", "PATH_INFO", "path-info", "X-Path-Info"],
  ];
  const others = ["Sec-Fetch-Mode", "Scripts-Name", "X-Original-Urls", "Path", "X-Rewrite"];
  const raw = [...names, ...others].flatMap((name) => [name, "/tickets"]);
  for (const isPeerTrusted of [true, false]) {
    const list = requestHeaders(raw, { ...context, client: { ...stranger, isPeerTrusted } });
    assert.deepEqual(
      list.filter((_, i) => list[i + 1] === "/tickets"),
      others,
    );
  }
});

test("cookies that are ours are removed, whatever stands around them", () => {
  assert.equal(stripCookies("a=1; b=2"), "a=1; b=2");
  assert.equal(
    stripCookies(" fairgate_pass=x;a=1;__Host-fairgate_ticket=y ;b=fairgate_"),
    "a=1; b=fairgate_",
  );
  assert.equal(stripCookies("fairgate_pass=x"), "");
  assert.equal(stripCookies("xfairgate_pass=x; __Secure-fairgate_main=1"), "xfairgate_pass=x");
  assert.equal(stripCookies("__Other-fairgate_=1"), "__Other-fairgate_=1");
});

test("no visitor's header reaches the origin under a name that reads as ours", () => {
  const separator = fc.constantFrom("-", "_", ".", "!", "~");
  const name = fc.tuple(
    fc.constantFrom("Fairgate", "FAIRGATE", "fairgate"),
    separator,
    fc.stringMatching(/^[a-z]{0,6}$/),
  );
  fc.assert(
    fc.property(fc.array(name), fc.boolean(), (names, isPeerTrusted) => {
      const raw = names.flatMap((parts) => [parts.join(""), "forged"]);
      const list = requestHeaders(raw, { ...context, client: { ...stranger, isPeerTrusted } });
      return !list.includes("forged");
    }),
  );
  assert.equal(isNeverSent("Fairgates"), false);
});

test("a stranger's header about where it came from never reaches the origin", () => {
  const forged = [
    "X-Forwarded-For",
    "X_Forwarded_For",
    "X-Forwarded-Server",
    "X-Host",
    "X-Original-Host",
    "X-HTTP-Host-Override",
    "x-real-ip",
    "Forwarded",
    "X-Request-Id",
  ];
  const list = requestHeaders(
    forged.flatMap((name) => [name, "forged"]),
    context,
  );
  assert.ok(!list.some((text) => text.includes("forged")));
});

test("no header names another host than the one that was routed, even from a trusted proxy", () => {
  const raw = ["X-Host", "X_Original_Host", "X-HTTP-Host-Override"].flatMap((name) => [name, "forged"]);
  const list = requestHeaders(raw, { ...context, client: { ...stranger, isPeerTrusted: true } });
  assert.ok(!list.includes("forged"));
});

test("a response loses hop-by-hop headers, those named by Connection, and a length beside a coding", () => {
  const raw = [
    ...[
      "Server",
      "x",
      "Connection",
      "X-A",
      "X-A",
      "1",
      "Transfer-Encoding",
      "chunked",
      "Content-Length",
      "3",
    ],
    ...["Keep-Alive", "1", "Upgrade", "h2", "TE", "x", "Proxy-Authenticate", "x", "ETag", "e"],
  ];
  assert.deepEqual(responseHeaders(raw, { added: ["A", "b"], isPersonal: false, canTrail: false }), [
    "Server",
    "x",
    "ETag",
    "e",
    "Cache-Control",
    "private",
    "A",
    "b",
  ]);
});

test("Trailer stays only where trailers can follow", () => {
  const chunked = ["Trailer", "X-Sum", "Transfer-Encoding", "chunked"];
  assert.deepEqual(responseHeaders(chunked, { added: [], isPersonal: false, canTrail: true }), [
    "Trailer",
    "X-Sum",
  ]);
  assert.deepEqual(responseHeaders(chunked, { added: [], isPersonal: false, canTrail: false }), []);
  assert.deepEqual(
    responseHeaders(["Trailer", "X-Sum"], { added: [], isPersonal: false, canTrail: true }),
    [],
  );
});

test("an origin cannot set our cookies or speak in our name", () => {
  const raw = [
    "Set-Cookie",
    "fairgate_p=1",
    "set-cookie",
    " __Host-fairgate_p=1",
    "Set-Cookie",
    "own=fairgate_",
    "fairgate-x",
    "1",
  ];
  assert.deepEqual(responseHeaders(raw, { added: [], isPersonal: false, canTrail: false }), [
    "Set-Cookie",
    "own=fairgate_",
  ]);
});
