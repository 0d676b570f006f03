/**
 * A stand-in for the gateway, for testing the waiting page alone: it serves the real page and answers the page's calls as a test
 * says. It has no line and no clock; a test moves everything by hand.
 */
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Board, DrawNotice, StockNotice, WaitPoint } from "../../core/board.ts";
import { type ErrorPage, renderProblem } from "../../gateway/page/problem.ts";
import { createPage, type PageLook, type PageView } from "../../gateway/page/render.ts";

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
  /** Additional content of the next page. */
  view: Partial<PageView> = {};
  /** The page's cookie check; empty: the cookie came back. */
  cookieStyle = "";
  refreshSeconds: number | null = null;
  isAdmitted = false;
  hasEvents = true;
  board: Board = boardWith({ ahead: 128 });
  isBoardBroken = false;
  checkIn: Answer = "broken";
  receipt: Answer = "broken";
  /** Where set, a page for someone without a place is served in place of the waiting page. */
  problem: ErrorPage | null = null;
  /** What came with each join as its solution. */
  readonly solutions: string[] = [];
  /** Pages are served once this has settled, answers to forms at once. Until then the browser shows the page before. */
  pagesAfter: Promise<void> = Promise.resolve();
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

  /** Number of requests, by kind, such as "GET /". */
  count(what: string): number {
    return this.asked.filter((asked) => asked === what).length;
  }

  /** Makes a new board and sends it to everyone listening. */
  push(changes: Parameters<typeof boardWith>[0]): void {
    this.board = boardWith({ ...changes, version: this.board.version + 1 });
    this.send("board", this.board);
  }

  /** Waits until event streams have been opened this many times. */
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
    else if (what === "POST /.fairgate/shop/enter") sendJson(response, { status: "entered" });
    else if (what === "GET /.fairgate/shop/cookies.css")
      response.writeHead(200, { "content-type": "text/css" }).end(this.cookieStyle);
    else if (what === "GET /.fairgate/shop/receipt") sendJson(response, this.receipt);
    else if (what === "POST /.fairgate/shop/join") this.#join(request, response);
    else if (request.method === "GET") void this.pagesAfter.then(() => this.#serve(request, response));
    else this.#serve(request, response);
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    if (this.isAdmitted) response.setHeader("content-type", "text/html").end(SITE);
    else if (this.problem) this.#serveProblem(this.problem, request, response);
    else this.#servePage(request, response);
  }

  /** Every solution is accepted. */
  #join(request: IncomingMessage, response: ServerResponse): void {
    this.solutions.push(String(request.headers["fairgate-work"]));
    this.problem = null;
    sendJson(response, { status: "waiting" });
  }

  #serveProblem(problem: ErrorPage, request: IncomingMessage, response: ServerResponse): void {
    const { accept, "accept-language": languages } = request.headers;
    const { headers, body } = renderProblem(accept, languages, problem);
    response.writeHead(problem.status, [...headers]).end(body);
  }

  #servePage(request: IncomingMessage, response: ServerResponse): void {
    const page = createPage(this.#look);
    const nonce = "dGhpcyBpcyBhIG5vbmNl";
    const language = page.chooseLanguage(request.headers["accept-language"]);
    const isPost = request.method === "POST";
    const headers = [...page.headers(nonce), "Cache-Control", "no-store"];
    if (this.refreshSeconds !== null && !isPost) headers.push("Refresh", String(this.refreshSeconds));
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

/** Seconds for a hundred visitors to be let in, and the same as the board tells it. */
const SPEED = { low: 170, middle: 200, high: 235 };
export const WAITS = [pointAt(0), pointAt(1), pointAt(100), pointAt(100_000)];

function pointAt(ahead: number): WaitPoint {
  const each = (ahead + 1) / 100;
  return [ahead, each * SPEED.low, each * SPEED.middle, each * SPEED.high];
}

/** Marks that put the visitor behind `ahead` others. */
export function marksWith(ahead: number): Board["marks"] {
  return [
    [SEQUENCE - ahead, 0],
    [SEQUENCE + 499, ahead + 499],
  ];
}

/** A board on which the visitor has `ahead` before them. */
export function boardWith(changes: {
  ahead: number;
  version?: number;
  state?: Board["state"];
  message?: string;
  admitted?: number;
  opensAt?: number;
  draw?: DrawNotice;
  stock?: StockNotice;
  lanes?: Board["lanes"];
  hides?: readonly ("ahead" | "behind" | "wait")[];
}): Board {
  const { ahead, version = 1, state = "queueing", message = "", admitted = SEQUENCE - 1 - ahead } = changes;
  const { opensAt = null, draw, stock, lanes, hides = [] } = changes;
  const isSilent = hides.includes("ahead") || (state === "prequeue" && draw !== undefined);
  const hasNoSpeed = state === "paused" || state === "prequeue" || hides.includes("wait");
  return {
    room: "shop",
    version,
    madeAt: 1_900_000_000_000 + version,
    state,
    waiting: hides.includes("behind") ? null : ahead + 500,
    admitted,
    marks: isSilent ? [] : marksWith(ahead),
    ratePerMinute: 30,
    waits: hasNoSpeed ? null : WAITS,
    message,
    nextEventAt: opensAt,
    ...(lanes && { lanes }),
    ...(draw && { draw }),
    ...(stock && { stock }),
  };
}

function viewOf(board: Board): Omit<PageView, "language" | "nonce"> {
  const ahead = board.marks.length > 0 ? board.marks[1]![1] - 499 : null;
  const { low, middle, high } = SPEED;
  const hasWait = ahead !== null && board.waits !== null;
  return {
    room: "shop",
    state: board.state,
    ahead,
    waiting: board.waiting,
    waitMs: hasWait
      ? { low: ahead * low * 10, middle: ahead * middle * 10, high: ahead * high * 10.2 }
      : null,
    aheadAtJoin: ahead === null ? null : 400,
    sequence: SEQUENCE,
    opensAt: board.nextEventAt,
    draw: board.draw ?? null,
    stock: board.stock,
    // No check-in by itself within a test: a page that starts slowly must not call what the test does not answer.
    nextCheckInMs: 60_000,
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
