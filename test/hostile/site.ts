/**
 * The site behind the gateway in a siege, as a process of its own: a page, a large one at addresses that end in `large`, a huge
 * one at `huge`, and one that takes long at `slow`. It reads bodies to their end.
 */
import http from "node:http";
import type { AddressInfo } from "node:net";

/** Words that only the site sends. */
export const SITE_WORDS = "this is the site itself";
const PAGE = `<!doctype html><title>Site</title>${SITE_WORDS}`;
const LARGE = Buffer.alloc(2 * 1_024 * 1_024, "x");
const HUGE = Buffer.alloc(32 * 1_024 * 1_024, "x");
/** Longer than any attack in its small form. */
const SLOW_MS = 60_000;

if (process.argv[1] === import.meta.filename) {
  const server = http.createServer((request, response) => {
    request.on("error", () => {});
    request.resume().on("end", () => {
      const kind = request.url!.split("/").at(-1);
      const body = kind === "large" ? LARGE : kind === "huge" ? HUGE : PAGE;
      response.writeHead(200, { "content-type": body === PAGE ? "text/html" : "application/octet-stream" });
      if (kind === "slow") setTimeout(() => response.end(body), SLOW_MS).unref();
      else response.end(body);
    });
  });
  server.on("upgrade", (_request, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    socket.pipe(socket);
  });
  server.listen(0, "127.0.0.1", () => {
    console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
  });
}
