/**
 * A stand-in for the gateway, for testing the waiting page alone: it serves the real page and answers the visitor's
 * addresses as a test tells it to. It has no line and no clock; a test moves everything by hand.
 */
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Board } from "../../src/core/board.ts";
import { createPage, type PageLook, type PageView } from "../../src/gateway/page/render.ts";

export const SEQUENCE = 1_000;

export const LOOK: PageLook = {
  title: "Harbour Tickets",
  logo: null,
  logoAlt: "",
  colour: "#1d4ed8",
  defaultLanguage: "en",
  customPageHtml: null,
};

const SITE = "<!doctype html><title>The shop</title><link rel=icon href='data:,'><h1>The shop</h1>";

type Answer = object | "broken";

export class FakeGateway {
  readonly asked: string[] = [];
  /** What the next page shows beyond the usual. */
  view: Partial<PageView> = {};
  refreshSeconds: number | null = null;
  isAdmitted = false;
  hasEvents = true;
  board: Board = boardWith({ ahead: 128 });
  isBoardBroken = false;
  checkIn: Answer = "broken";
  readonly #streams = new Set<ServerResponse>();
  readonly #opened = new EventEmitter();
  #openedCount = 0;
  readonly #server: Server;
  readonly #look: PageLook;

  constructor(look: Partial<PageLook> = {}) {
    this.#look = { ...LOOK, ...look };
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** How often something was asked for, such as "GET /". */
  count(what: string): number {
    return this.asked.filter((asked) => asked === what).length;
  }

  /** Makes a new board and sends it to everyone listening. */
  push(changes: Parameters<typeof boardWith>[0]): void {
    this.board = boardWith({ ...changes, version: this.board.version + 1 });
    this.send("board", this.board);
  }

  /** Waits until events have been listened to so many times. */
  async listeners(times: number): Promise<void> {
    while (this.#openedCount < times) await once(this.#opened, "stream");
  }

  send(event: string, data: object): void {
    for (const stream of this.#streams) writeEvent(stream, event, data);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const what = `${request.method} ${request.url}`;
    this.asked.push(what);
    if (what === "GET /.fairgate/shop/events") this.#stream(response);
    else if (what === "GET /.fairgate/shop/board")
      sendJson(response, this.isBoardBroken ? "broken" : this.board);
    else if (what === "POST /.fairgate/shop/check-in") sendJson(response, this.checkIn);
    else if (this.isAdmitted) response.setHeader("content-type", "text/html").end(SITE);
    else this.#servePage(request, response);
  }

  #servePage(request: IncomingMessage, response: ServerResponse): void {
    const page = createPage(this.#look);
    const nonce = "dGhpcyBpcyBhIG5vbmNl";
    const language = page.chooseLanguage(request.headers["accept-language"]);
    const isPost = request.method === "POST";
    const headers = [...page.headers(nonce), "Cache-Control", "no-store"];
    if (this.refreshSeconds !== null) headers.push("Refresh", String(this.refreshSeconds));
    response.writeHead(isPost ? 429 : 200, headers);
    response.end(
      page.render({
        ...viewOf(this.board),
        language,
        nonce,
        ...(isPost ? { notice: "formNotSent" } : {}),
        ...this.view,
      }),
    );
  }

  #stream(response: ServerResponse): void {
    if (!this.hasEvents) {
      response.writeHead(503).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    this.#streams.add(response);
    this.#openedCount++;
    this.#opened.emit("stream");
    response.on("close", () => this.#streams.delete(response));
    writeEvent(response, "board", this.board);
  }
}

/** A board on which the visitor has `ahead` before them. */
export function boardWith(changes: {
  ahead: number;
  version?: number;
  state?: Board["state"];
  message?: string;
  admitted?: number;
}): Board {
  const { ahead, version = 1, state = "queueing", message = "", admitted = SEQUENCE - 1 - ahead } = changes;
  return {
    room: "shop",
    version,
    madeAt: 1_900_000_000_000 + version,
    state,
    waiting: ahead + 500,
    admitted: [admitted],
    marks: [
      [SEQUENCE - ahead, 0],
      [SEQUENCE + 499, ahead + 499],
    ],
    ratePerMinute: 30,
    secondsPerHundred: state === "paused" ? null : { low: 170, middle: 200, high: 235 },
    message,
    nextEventAt: null,
  };
}

function viewOf(board: Board): Omit<PageView, "language" | "nonce"> {
  const ahead = board.marks[1]![1] - 499;
  return {
    room: "shop",
    state: board.state,
    ahead,
    waiting: board.waiting,
    waitMs: { low: ahead * 1_700, middle: ahead * 2_000, high: ahead * 2_400 },
    aheadAtJoin: 400,
    sequence: SEQUENCE,
    nextCheckInMs: 400,
    now: Date.UTC(2030, 0, 31, 12, 0, 0),
    message: board.message,
    notice: "none",
  };
}

function writeEvent(response: ServerResponse, event: string, data: object): void {
  response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

function sendJson(response: ServerResponse, answer: Answer): void {
  if (answer === "broken") {
    response.writeHead(503, { "content-type": "text/plain" }).end("away");
    return;
  }
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(answer));
}
