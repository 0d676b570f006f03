import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { HEADERS_MAX, isHost, originForm, type RequestHead, refuseFraming } from "./framing.ts";

function head(rawHeaders: string[], rest: Partial<RequestHead> = {}): RequestHead {
  return {
    method: "POST",
    url: "/",
    httpVersionMajor: 1,
    httpVersionMinor: 1,
    rawHeaders: ["Host", "a", ...rawHeaders],
    ...rest,
  };
}

const status = (request: RequestHead) => refuseFraming(request)?.status ?? null;

test("a sound request is not refused", () => {
  assert.equal(status(head([])), null);
  assert.equal(status(head(["Content-Length", "12"])), null);
  assert.equal(status(head(["transfer-encoding", "Chunked"])), null);
  assert.equal(status(head([], { rawHeaders: [], httpVersionMinor: 0 })), null);
  assert.equal(status(head([], { method: "OPTIONS", url: "*" })), null);
  assert.equal(status(head([], { url: "http://A/x" })), null);
});

test("any transfer coding but a single chunked is refused", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 20 }), (coding) => {
      const isSound = coding.toLowerCase() === "chunked";
      return (status(head(["Transfer-Encoding", coding])) === null) === isSound;
    }),
  );
  assert.equal(status(head(["Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"])), 400);
  assert.equal(status(head(["Transfer-Encoding", "chunked"], { httpVersionMinor: 0 })), 400);
});

test("a length is one number, alone", () => {
  for (const length of ["", " 1", "+1", "-1", "1,1", "0x1", "1e3", "9999999999999999"])
    assert.equal(status(head(["Content-Length", length])), 400, length);
  assert.equal(status(head(["Content-Length", "1", "content-length", "1"])), 400);
  assert.equal(status(head(["Content-Length", "1", "Transfer-Encoding", "chunked"])), 400);
});

test("there is one host, and it looks like one", () => {
  assert.equal(status(head(["host", "a"])), 400);
  assert.equal(status(head([], { rawHeaders: [] })), 400);
  for (const host of [
    "",
    "a b",
    "a/b",
    "a@b",
    "a:b",
    "[::1",
    "a\tb",
    "a?",
    "a..",
    "a..b",
    ".a",
    ".",
    ":80",
    "%61",
    "a,b",
    "\xe9",
  ])
    assert.equal(status(head([], { rawHeaders: ["Host", host] })), 400, host);
  for (const host of [
    "a",
    "a.example:80",
    "a.example.",
    "A.:443",
    "-_-",
    "[::1]:8080",
    "xn--a_b.example",
    "10.0.0.1",
  ])
    assert.equal(isHost(host), true, host);
});

test("HTTP/2 may name the host twice only if both agree", () => {
  const two = { httpVersionMajor: 2, stream: {}, httpVersionMinor: 0 };
  assert.equal(status(head([], { ...two, rawHeaders: [":authority", "a", "host", "A"] })), null);
  assert.equal(status(head([], { ...two, rawHeaders: [":authority", "a", "host", "b"] })), 400);
  assert.equal(status(head([], { ...two, rawHeaders: [":path", "/"] })), 400);
});

test("targets, methods, versions and the number of headers have their limits", () => {
  for (const url of ["*", "x", "", "ftp://a/", "http://", "http://b/", "/a#b", "http:///x"])
    assert.equal(status(head([], { url })), 400, url);
  for (const method of ["TRACE", "CONNECT"]) assert.equal(status(head([], { method })), 405);
  const http2 = { httpVersionMajor: 2, stream: {}, httpVersionMinor: 0 };
  for (const method of ["trace", "Connect", "head", "PRI"])
    assert.equal(status(head([], { method, ...http2 })), 405, method);
  for (const [httpVersionMajor, httpVersionMinor] of [
    [0, 9],
    [1, 2],
    [3, 0],
  ] as const)
    assert.equal(status(head([], { httpVersionMajor, httpVersionMinor })), 505);
  assert.equal(status(head(Array(HEADERS_MAX * 2).fill("x"))), 431);
});

test("a whole address becomes its path", () => {
  assert.equal(originForm("/a?b"), "/a?b");
  assert.equal(originForm("//a"), "//a");
  assert.equal(originForm("HTTP://a:80/x?y"), "/x?y");
  assert.equal(originForm("https://a"), "/");
  assert.equal(originForm("http://a?q=1"), "/?q=1");
});
