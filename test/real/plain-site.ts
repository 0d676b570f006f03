/**
 * A site in plain Node, for tests that need no real framework: a page with many parts, an API that other origins may call, and a
 * list of the requests that arrived.
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Site } from "./site.ts";

export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface PlainSite extends Site {
  /** Every request that reached it. */
  readonly arrived: Arrived[];
}

const PICTURES = 8;
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>';
const range = Array.from({ length: PICTURES }, (_, n) => n);
const PAGE = `<!doctype html><html lang=en><title>The shop</title>
<link rel=icon href="/icon.svg"><link rel=manifest href="/shop.webmanifest"><link rel=stylesheet href="/shop.css">
<h1>The shop</h1><p id=seats></p>${range.map((n) => `<img alt="" src="/picture-${n}.svg">`).join("")}
<script src="/shop.js"></script></html>`;
const SCRIPT = `fetch("/api/seats").then((answer) => answer.json()).then(({ seats }) => {
  document.getElementById("seats").textContent = seats + " seats left";
});`;

const CONTENTS: Readonly<Record<string, readonly [type: string, content: string]>> = {
  "/": ["text/html; charset=utf-8", PAGE],
  "/shop.css": ["text/css", "h1 { color: #1d4ed8 }"],
  "/shop.js": ["text/javascript", SCRIPT],
  "/shop.webmanifest": ["application/manifest+json", '{ "name": "The shop" }'],
  "/icon.svg": ["image/svg+xml", PICTURE],
  "/api/seats": ["application/json", '{"seats":42}'],
  ...Object.fromEntries(range.map((n) => [`/picture-${n}.svg`, ["image/svg+xml", PICTURE]])),
};

/** Sends a page in chunks. */
const SLOW_PATH = "/slowly";
const SLOW_PIECES = 30;
const SLOW_EVERY_MS = 100;

/** `pages`: more addresses with their HTML. */
export async function openPlainSite(pages: Readonly<Record<string, string>> = {}): Promise<PlainSite> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    const { method = "", url: path = "", headers } = request;
    arrived.push({ method, path, headers });
    request.resume();
    if (path === SLOW_PATH) return void sendSlowly(response);
    const page = pages[path];
    answer(request, response, page === undefined ? CONTENTS[path] : ["text/html; charset=utf-8", page]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function sendSlowly(response: ServerResponse): Promise<void> {
  response.setHeader("content-type", "text/html; charset=utf-8");
  for (let n = 0; n < SLOW_PIECES && !response.destroyed; n++) {
    response.write(`<p>${n}`);
    await pause(SLOW_EVERY_MS);
  }
  response.end();
}

/** The API may be called from every origin, but with no method or header that needs a preflight. */
function answer(
  { method, url = "" }: IncomingMessage,
  response: ServerResponse,
  found: readonly [string, string] | undefined,
): void {
  response.setHeader("cache-control", "no-store");
  if (url.startsWith("/api/")) response.setHeader("access-control-allow-origin", "*");
  if (method === "OPTIONS") return void response.writeHead(204).end();
  const [type, content] = found ?? ["text/plain", "Nothing here\n"];
  response.writeHead(found ? 200 : 404, { "content-type": type }).end(content);
}
