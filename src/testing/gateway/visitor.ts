/**
 * A visitor of the gateway over real sockets: a small HTTP/1.1 client that keeps cookies as a browser would, and can
 * listen to events.
 */
import assert from "node:assert/strict";
import http, { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import net from "node:net";
import type { TestContext } from "node:test";
import { until } from "../until.ts";

export interface Asking {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly text: string;
}

export const PAGE = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "sec-fetch-dest": "document" };
export const JSON_CLIENT = { accept: "application/json" };

/** What the gateway's addresses answer, as far as tests look at it. */
export interface Told {
  readonly status?: string;
  readonly reason?: string;
  readonly sequence?: number;
  readonly ahead?: number;
  readonly waiting?: number;
  readonly nextCheckInMs?: number;
  readonly expiresInMs?: number;
  readonly claimByMs?: number;
  readonly formerPlace?: string;
  readonly error?: string;
}

export class Visitor {
  readonly port: number;
  readonly cookies = new Map<string, string>();
  readonly #test: TestContext;

  constructor(port: number, test: TestContext) {
    this.port = port;
    this.#test = test;
  }

  /** The room's token in the jar. */
  token(room = "main"): string | undefined {
    return this.cookies.get(`fairgate_${room}`);
  }

  /** Opens a page. */
  open(path = "/", headers: OutgoingHttpHeaders = {}): Promise<Answer> {
    return this.ask(path, { headers: { ...PAGE, ...headers } });
  }

  /** Opens a page and tells whether it was the site's. */
  async isIn(path = "/"): Promise<boolean> {
    return (await this.open(path)).text === "the site";
  }

  /** One of the gateway's own addresses, with the method it wants. */
  async call(
    endpoint: string,
    options: { room?: string; headers?: OutgoingHttpHeaders } = {},
  ): Promise<Told> {
    return JSON.parse((await this.post(endpoint, options)).text) as Told;
  }

  post(endpoint: string, options: { room?: string; headers?: OutgoingHttpHeaders } = {}): Promise<Answer> {
    const { room = "main", headers = {} } = options;
    return this.ask(`/.fairgate/${room}/${endpoint}`, { method: "POST", headers });
  }

  async ask(path: string, { method = "GET", headers = {}, body }: Asking = {}): Promise<Answer> {
    const request = http.request({
      host: "127.0.0.1",
      port: this.port,
      method,
      path,
      headers: { ...this.#cookie(), ...headers },
      agent: false,
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on("response", resolve).on("error", reject).end(body);
    });
    this.keep(response.headers["set-cookie"] ?? []);
    const text = (await response.setEncoding("utf8").toArray()).join("");
    return { status: response.statusCode!, headers: response.headers, rawHeaders: response.rawHeaders, text };
  }

  /** Takes Set-Cookie values into the jar. */
  keep(setCookies: readonly string[]): void {
    for (const line of setCookies) {
      const [, name, value, attributes] = /^([^=]+)=([^;]*)(.*)$/.exec(line)!;
      if (/max-age=0/i.test(attributes!)) this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
  }

  /** Listens to the room's events until the test ends or the gateway hangs up. */
  async listen(room = "main", headers: OutgoingHttpHeaders = {}): Promise<EventReader> {
    const reader = new EventReader();
    const request = http.get({
      host: "127.0.0.1",
      port: this.port,
      path: `/.fairgate/${room}/events`,
      headers: { ...this.#cookie(), ...headers },
      agent: false,
    });
    this.#test.after(() => request.destroy());
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on("response", resolve).on("error", reject);
    });
    request.on("error", () => {});
    reader.status = response.statusCode!;
    reader.headers = response.headers;
    response.setEncoding("utf8");
    response.on("data", (text: string) => reader.read(text)).on("error", () => {});
    response.on("close", () => {
      reader.isOver = true;
    });
    reader.hangUp = () => request.destroy();
    return reader;
  }

  #cookie(): OutgoingHttpHeaders {
    const pairs = [...this.cookies].map(([name, value]) => `${name}=${value}`);
    return pairs.length > 0 ? { cookie: pairs.join("; ") } : {};
  }
}

/** Reads text/event-stream. */
export class EventReader {
  status = 0;
  headers: IncomingHttpHeaders = {};
  isOver = false;
  readonly events: { readonly name: string; readonly data: string }[] = [];
  hangUp: () => void = () => {};
  #rest = "";

  read(text: string): void {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop()!;
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block)?.[1];
      if (name !== undefined) this.events.push({ name, data: /^data: (.*)$/m.exec(block)?.[1] ?? "" });
    }
  }

  count(name: string): number {
    return this.events.filter((event) => event.name === name).length;
  }

  /** Waits until so many events by this name have come. */
  heard(name: string, times = 1): Promise<void> {
    return until(() => this.count(name) >= times, `${times} "${name}" events`);
  }
}

/** Bytes as written to the port, and what comes back until the connection closes or `enough` is seen. */
export async function talk(port: number, text: string, enough?: RegExp): Promise<string> {
  const socket = net.connect(port, "127.0.0.1");
  let heard = "";
  const isDone = new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
      if (enough?.test(heard)) resolve();
    });
    socket.on("error", () => {}).on("close", () => resolve());
  });
  socket.write(text, "latin1");
  await isDone;
  socket.destroy();
  return heard;
}

export function assertWaitingPage(answer: Answer, status = 200): void {
  assert.equal(answer.status, status);
  assert.match(answer.headers["content-type"] ?? "", /^text\/html/);
  assert.match(answer.text, /fairgate-data/);
  assert.equal(answer.headers["cache-control"], "no-store");
}
