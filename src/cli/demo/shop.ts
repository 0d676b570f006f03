/**
 * The demo's origin: a small slow shop. Every page takes a while, and longer the more are being served at once, as
 * with a real site that needs a waiting room.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const BASE_MS = 120;
const EACH_OTHER_MS = 15;

const PRODUCTS = [
  ["Front row", "One seat, so close you hear the strings", "€ 95"],
  ["Balcony", "The whole stage, and the ceiling too", "€ 60"],
  ["Standing", "Dance if you like", "€ 35"],
  ["Programme", "With the words of every song", "€ 8"],
] as const;

export interface Shop {
  readonly address: string;
  close(): Promise<void>;
}

/** Opens the shop on a free port of this machine. */
export async function openShop(): Promise<Shop> {
  let serving = 0;
  const server = createServer((request, response) => {
    serving++;
    setTimeout(
      () => {
        serving--;
        serve(request, response);
      },
      BASE_MS + EACH_OTHER_MS * serving,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => closeServer(server),
  };
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache" });
  response.end(page(request));
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function page(request: IncomingMessage): string {
  const joined = Date.parse(String(request.headers["fairgate-joined-at"]));
  const admitted = Date.parse(String(request.headers["fairgate-admitted-at"]));
  const waited = Math.max(0, Math.round((admitted - joined) / 1_000));
  const welcome = Number.isNaN(waited)
    ? ""
    : waited < 1
      ? "There was no line."
      : `You waited ${waited} seconds. Thank you.`;
  const rows = PRODUCTS.map(
    ([name, words, price]) =>
      `<li><div><h2>${name}</h2><p>${words}</p></div><b>${price}</b><form method="post" action="/basket"><button aria-label="Add: ${name}">Add</button></form></li>`,
  ).join("");
  const notice = request.method === "POST" ? "<p role=status class=note>It is in your basket.</p>" : "";
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>The Small Shop</title><style>
body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:0 auto;padding:1.5rem;color:#1c1917;background:#fafaf9}
h1{font-size:1.6rem;margin:0}ul{list-style:none;padding:0}li{display:flex;gap:1rem;align-items:center;border-top:1px solid #e7e5e4;padding:.75rem 0}
li div{flex:1}h2{font-size:1rem;margin:0}p{margin:0;color:#57534e}button{font:inherit;padding:.4rem .9rem;border:0;border-radius:.4rem;background:#1d4ed8;color:#fff;cursor:pointer}
.note{background:#dcfce7;color:#14532d;padding:.5rem .75rem;border-radius:.4rem;margin:1rem 0}
@media(prefers-color-scheme:dark){body{background:#1c1917;color:#fafaf9}p{color:#a8a29e}li{border-color:#44403c}}
</style><main><h1>The Small Shop</h1><p>${welcome}</p>${notice}<ul>${rows}</ul></main></html>`;
}
