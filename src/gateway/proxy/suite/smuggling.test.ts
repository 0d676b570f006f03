/** Requests that two readers could take for different ones: refused, and nothing of them reaches the origin. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openProxiedOrigin, openProxyStage, talk } from "../../../testing/proxy/stage.ts";

const POST = "POST / HTTP/1.1\r\nHost: a\r\n";
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;

/** Each hides a request for /hidden in what one of two readers would take for a body, or is malformed. */
const BODIES: Record<string, string> = {
  "two different lengths": `${POST}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
  "the same length twice": `${POST}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`,
  "a list of lengths": `${POST}Content-Length: 3, 3\r\n\r\nabc`,
  "a signed length": `${POST}Content-Length: +3\r\n\r\nabc`,
  "a negative length": `${POST}Content-Length: -3\r\n\r\nabc`,
  "a hexadecimal length": `${POST}Content-Length: 0x3\r\n\r\nabc`,
  "an empty length": `${POST}Content-Length: \r\n\r\nabc`,
  "length before coding": `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n`,
  "coding before length": `${POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n`,
  "an unknown coding": `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  "a coding after chunked": `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  "identity before chunked": `${POST}Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n`,
  "gzip before chunked": `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  "chunked twice in a list": `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
  "chunked in two headers": `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  "identity, then chunked in another header": `${POST}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  "a quoted coding": `${POST}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n`,
  "a vertical tab before chunked": `${POST}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`,
  "an empty coding": `${POST}Transfer-Encoding: \r\n\r\n`,
  "chunked in HTTP/1.0": "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "a coding on a GET": "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
  "a chunk size that is no number": `${CHUNKED}zz\r\nabc\r\n0\r\n\r\n`,
  "a chunk size with a prefix": `${CHUNKED}0x3\r\nabc\r\n0\r\n\r\n`,
  "a negative chunk size": `${CHUNKED}-3\r\nabc\r\n0\r\n\r\n`,
  "a chunk size that overflows": `${CHUNKED}10000000000000003\r\nabc\r\n0\r\n\r\n`,
  "a space behind a chunk size": `${CHUNKED}3 \r\nabc\r\n0\r\n\r\n`,
  "a chunk longer than its size": `${CHUNKED}3\r\nabcd\r\n0\r\n\r\n`,
  "bare line feeds between chunks": `${CHUNKED}3\nabc\n0\n\n`,
  "a line feed in a chunk extension": `${CHUNKED}3;a\nb\r\nabc\r\n0\r\n\r\n`,
};

const HEADS: Record<string, string> = {
  "a folded header": "GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n",
  "bare line feeds": "GET / HTTP/1.1\nHost: a\n\n",
  "a bare line feed in the header": "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
  "a bare carriage return": "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
  "a space before the colon": "GET / HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc",
  "a space before the first header": "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
  "a null byte": "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n",
  "no host": "GET / HTTP/1.1\r\n\r\n",
  "an empty host": "GET / HTTP/1.1\r\nHost:\r\n\r\n",
  "two hosts": "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  "a host that is none": "GET / HTTP/1.1\r\nHost: a b/@\r\n\r\n",
  "a target for another host": "GET http://b/hidden HTTP/1.1\r\nHost: a\r\n\r\n",
  "a target that is no path": "GET hidden HTTP/1.1\r\nHost: a\r\n\r\n",
  "an asterisk for a GET": "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
  "a fragment": "GET /#hidden HTTP/1.1\r\nHost: a\r\n\r\n",
  "a space in the target": "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
  "HTTP/0.9": "GET /hidden\r\n\r\n",
  "HTTP/1.2": "GET / HTTP/1.2\r\nHost: a\r\n\r\n",
  "HTTP/2 in the words of HTTP/1": "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
  "the same, with names as HTTP/2 has them": "GET / HTTP/2.0\r\nhost: a\r\n\r\n",
  "the same, with two hosts": "GET / HTTP/2.0\r\nHost: b\r\nhost: a\r\n\r\n",
  "the same, with a coding":
    "POST / HTTP/2.0\r\nhost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
  "an unknown method": "FOO / HTTP/1.1\r\nHost: a\r\n\r\n",
  "a preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "a CONNECT": "CONNECT inner:22 HTTP/1.1\r\nHost: inner:22\r\n\r\nhidden",
  "a TRACE": "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n",
};

test("requests with doubtful framing are refused and the connection is closed", async (t) => {
  const finished: string[] = [];
  const origin = await openProxiedOrigin(t, (request, response) => {
    request.on("error", () => {});
    request.resume().on("end", () => {
      finished.push(`${request.method} ${request.url}`);
      response.end();
    });
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const cases = Object.entries({ ...BODIES, ...HEADS });
  const heard = await Promise.all(cases.map(([, text]) => talk(port, text, /\r\n\r\n[\s\S]*\n$/)));
  for (const [i, [name]] of cases.entries()) {
    assert.match(heard[i]!, /^HTTP\/1\.1 (?:400|405|505) /, name);
    assert.match(heard[i]!, /\r\nconnection: close\r\n/i, name);
    assert.equal(heard[i]!.match(/HTTP\/1\.1/g)?.length, 1, name);
  }
  assert.deepEqual(finished, []);
});

test("what looks odd but is sound still passes", async (t) => {
  const origin = await openProxiedOrigin(t, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.end(`${request.url} ${request.headers.host} ${body}.`);
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const sound: [string, string][] = [
    [`${CHUNKED}3;name=value\r\nabc\r\n0\r\n\r\n`, "/ a abc."],
    [`${POST}Transfer-Encoding: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n`, "/ a abc."],
    [`${POST}Transfer-Encoding:\tchunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`, "/ a abc."],
    ["GET http://A:80/path?q HTTP/1.1\r\nHost: a:80\r\n\r\n", "/path?q a:80 ."],
    ["GET http://a?q HTTP/1.1\r\nHost: a\r\n\r\n", "/?q a ."],
    ["GET //double HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "//double [::1]:80 ."],
    ["GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "/ a abc."],
  ];
  for (const [text, expected] of sound) {
    const heard = await talk(port, text, /\.$/);
    assert.ok(heard.endsWith(expected), `${JSON.stringify(text)} gave ${JSON.stringify(heard)}`);
  }
  assert.match(await talk(port, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", /\r\n\r\n/), /^HTTP\/1\.1 204 /);
  assert.match(await talk(port, "GET / HTTP/1.0\r\n\r\n"), /\/ 127\.0\.0\.1:\d+ \.$/);
});

test("pipelined requests are answered in order, each by itself", async (t) => {
  const origin = await openProxiedOrigin(t, (request, response) => {
    setTimeout(() => response.end(`<${request.url}>`), request.url === "/1" ? 30 : 0);
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const heard = await talk(
    port,
    "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n",
    /<\/3>/,
  );
  assert.deepEqual(heard.match(/<\/\d>/g), ["</1>", "</2>", "</3>"]);
});
