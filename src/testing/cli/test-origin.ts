/**
 * The site behind the gateway in black-box tests. `/` is a small page, `/download` sends half and waits until the test releases
 * the rest. All requests are kept for the test to inspect.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const HALF = "half of it, ".repeat(1_000);

export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export class TestOrigin {
  readonly arrived: Arrived[] = [];
  readonly #server: Server;
  readonly #held: ServerResponse[] = [];

  static async open(): Promise<TestOrigin> {
    const origin = new TestOrigin();
    origin.#server.listen(0, "127.0.0.1");
    await once(origin.#server, "listening");
    return origin;
  }

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sends the other half of every download under way. */
  finishDownloads(): void {
    for (const response of this.#held.splice(0)) response.end(HALF);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const { method = "", url: path = "", headers } = request;
    this.arrived.push({ method, path, headers, body });
    if (path === "/download") {
      response.writeHead(200, { "content-type": "application/octet-stream" }).write(HALF);
      this.#held.push(response);
      return;
    }
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
    response.end(shopPage(method));
  }
}

function shopPage(method: string): string {
  const note = method === "POST" ? "<p id=note>Bought</p>" : "";
  return `<!doctype html><html lang=en><title>The shop</title><link rel=icon href="data:,"><h1>The shop</h1>${note}
<form method=post action=/buy><input type=hidden name=seat value=7><button>Buy</button></form></html>`;
}
