/**
 * Two sites in Node, as apps and as programs (`node node-sites.ts express|hono FOLDER`). Each guards what is below `/tickets`,
 * `/café` and `/my tickets` in all the ways that users of these frameworks do: by routes, by files in a folder, by parsing the
 * path by hand, and for upgrades. A request that gets there is answered with `SITE_WORDS`.
 */
import http, { type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { posix } from "node:path";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import express from "express";
import { Hono } from "hono";
import { SITE_WORDS } from "../site.ts";

export const GUARDED = ["tickets", "café", "my tickets"] as const;

const routes = GUARDED.map((name) => `/${encodeURIComponent(name)}`);

export function expressSite(folder: string): express.Express {
  const app = express();
  const guarded: express.RequestHandler = (_request, response) => {
    response.set("x-guarded", "yes").send(SITE_WORDS);
  };
  app.use(routes, guarded);
  app.use(express.static(folder));
  app.use((request, response, next) => {
    if (isGuardedByHand(request.path)) guarded(request, response, next);
    else response.send("open");
  });
  // Express answers on its own when it cannot decode a path; that is no answer of the site.
  const failed: express.ErrorRequestHandler = (_error, _request, response, _next) => {
    response.status(400).send("not understood");
  };
  app.use(failed);
  return app;
}

export function honoSite(folder: string): RequestListener {
  const app = new Hono();
  for (const name of GUARDED) {
    app.all(`/${name}`, (c) => c.text(SITE_WORDS, 200, { "x-guarded": "yes" }));
    app.all(`/${name}/*`, (c) => c.text(SITE_WORDS, 200, { "x-guarded": "yes" }));
  }
  app.use("*", serveStatic({ root: folder }));
  app.all("*", (c) =>
    isGuardedByHand(c.req.path) ? c.text(SITE_WORDS, 200, { "x-guarded": "yes" }) : c.text("open"),
  );
  return getRequestListener(app.fetch);
}

/** Like a site that parses the path itself: decodes it, then removes dots and doubled slashes. */
function isGuardedByHand(path: string): boolean {
  try {
    const [, first = ""] = posix.normalize(decodeURIComponent(path)).replace(/^\/+/, "/").split("/");
    return (GUARDED as readonly string[]).includes(first.toLowerCase());
  } catch {
    return false;
  }
}

/** WebSockets of the guarded part, matched as users of the `ws` package do: with a URL parser. */
export function upgradeGuarded(request: IncomingMessage, socket: Duplex): void {
  socket.on("error", () => {});
  const base = "http://site";
  const url = request.url ?? "/";
  const isGuarded = URL.canParse(url, base) && isGuardedByHand(new URL(url, base).pathname);
  socket.end(
    isGuarded
      ? `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Guarded: yes\r\n\r\n${SITE_WORDS}`
      : "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 4\r\n\r\nopen",
  );
}

if (process.argv[1] === import.meta.filename) {
  const [name, folder] = process.argv.slice(2) as ["express" | "hono", string];
  const server = http.createServer(name === "express" ? expressSite(folder) : honoSite(folder));
  server.on("upgrade", upgradeGuarded);
  server.listen(0, "127.0.0.1", () => {
    console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
  });
}
