/**
 * The demo's origin: the shop's pages, which are static, and the pretend payment provider behind them. Pages take a while, and longer
 * the more are being served at once, as with a real site that needs a waiting room.
 *
 *   /            the event         /site/…   what belongs to it
 *   /pay         payment           /pay/…    the same files: this path is another room, and needs that room's pass
 *   /pay/card    POST: the provider's form sends a card; it answers whether the card was taken, and tells the shop by callback
 *   /payments/…  POST: what the shop asks of the provider
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { World } from "../../core/world.ts";
import { PretendBank } from "../../shop/baskets/providers/pretend-bank.ts";
import type { WebhookKeys } from "../../shop/baskets/standard-webhooks.ts";

const BASE_MS = 120;
const EACH_OTHER_MS = 15;
/** How long the pretend bank thinks about a card. */
const CARD_MS = 1_200;
const BODY_BYTES_MAX = 4_096;
const CALLBACK_TIMEOUT_MS = 10_000;
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};
const FILES = [
  "basket.js",
  "event.js",
  "fairgate-client.js",
  "pay.js",
  "programme.js",
  "sheet.js",
  "site.css",
  "words.js",
];
/** Nothing inline, and nothing from elsewhere. */
const POLICY =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

export interface Shop {
  readonly address: string;
  readonly bank: PretendBank;
  close(): Promise<void>;
}

export interface ShopOptions {
  readonly world: World;
  /** What callbacks to the shop are signed with. */
  readonly keys: WebhookKeys;
  /** Where callbacks go. */
  readonly callbackTo: () => string;
}

/** Opens the shop on a free port of this machine. */
export async function openShop({ world, keys, callbackTo }: ShopOptions): Promise<Shop> {
  const bank = new PretendBank({ keys, world, send: (event) => sendCallback(callbackTo(), event) });
  const site = new Site(world, bank);
  const server = createServer((request, response) => site.serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bank,
    close: () => closeServer(server),
  };
}

async function sendCallback(
  to: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
): Promise<number> {
  const signal = AbortSignal.timeout(CALLBACK_TIMEOUT_MS);
  const answer = await fetch(to, { method: "POST", headers, body, redirect: "manual", signal });
  await answer.body?.cancel();
  return answer.status;
}

class Site {
  readonly #world: World;
  readonly #bank: PretendBank;
  readonly #pages = new Map([
    ["/", read("event.html")],
    ["/pay", read("pay.html")],
  ]);
  readonly #files = new Map(
    FILES.flatMap((name) => ["/site/", "/pay/"].map((folder) => [folder + name, read(name)])),
  );
  #serving = 0;

  constructor(world: World, bank: PretendBank) {
    this.#world = world;
    this.#bank = bank;
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const [path = "/"] = request.url!.split("?");
    const file = this.#files.get(path);
    if (request.method === "POST") return void this.#post(path, request, response);
    request.resume();
    if (file !== undefined) return send(response, 200, typeOf(path), file);
    this.#serving++;
    this.#world.timers.after(BASE_MS + EACH_OTHER_MS * this.#serving, () => {
      this.#serving--;
      const page = this.#pages.get(path) ?? this.#pages.get("/")!;
      send(response, 200, TYPES.html!, page.replace("{{welcome}}", welcome(request)));
    });
  }

  async #post(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request).catch(() => null);
    if (body === null) return send(response, 413, "text/plain", "");
    if (path === "/pay/card") return this.#takeCard(body, response);
    const header = (name: string) => [request.headers[name]].flat()[0];
    send(response, this.#bank.serve({ path, header, body }), "text/plain", "");
  }

  #takeCard(body: Buffer, response: ServerResponse): void {
    const card = readCard(body);
    if (!card) return send(response, 422, "text/plain", "");
    const { isGood, ...wanted } = card;
    const { id } = this.#bank.open({ ...wanted, isCapturedAtOnce: false });
    this.#world.timers.after(CARD_MS, () => {
      if (isGood) this.#bank.pay(id);
      else this.#bank.decline(id);
      send(response, 200, "application/json", JSON.stringify({ isTaken: isGood }));
    });
  }
}

/** What the provider's form sends. The shop sees by the amount whether it is the basket's. */
function readCard(body: Buffer) {
  try {
    const { attempt, amount, currency, card } = JSON.parse(body.toString()) as Record<string, unknown>;
    if (typeof attempt !== "string" || typeof currency !== "string" || typeof amount !== "number")
      return null;
    return { attempt, amount, currency, isGood: card === "good" };
  } catch {
    return null;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error("too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function read(name: string): string {
  return readFileSync(new URL(`./site/${name}`, import.meta.url), "utf8");
}

function typeOf(path: string): string {
  return TYPES[path.slice(path.lastIndexOf(".") + 1)]!;
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    "Content-Type": type,
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
  });
  response.end(body);
}

/** How long this visitor stood in line, as the gateway says in its headers. */
function welcome(request: IncomingMessage): string {
  const joined = Date.parse(String(request.headers["fairgate-joined-at"]));
  const admitted = Date.parse(String(request.headers["fairgate-admitted-at"]));
  const waited = Math.max(0, Math.round((admitted - joined) / 1_000));
  if (Number.isNaN(waited)) return "";
  return waited < 1
    ? "There was no line."
    : `You waited ${waited} ${waited === 1 ? "second" : "seconds"}. Thank you.`;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
