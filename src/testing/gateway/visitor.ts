/** A visitor of a test's gateway, who can also listen to events. */
import assert from "node:assert/strict";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { TestContext } from "node:test";
import type { HttpAnswer } from "../../visitor/ask.ts";
import { HttpVisitor } from "../../visitor/http-visitor.ts";
import { until } from "../until.ts";

export type { HttpAnswer, HttpAsking } from "../../visitor/ask.ts";
export { type EndpointWords, PAGE } from "../../visitor/http-visitor.ts";
export { talk } from "../talk.ts";

export const JSON_CLIENT = { accept: "application/json" };

export class Visitor extends HttpVisitor {
  readonly port: number;
  readonly #test: TestContext;

  constructor(port: number, test: TestContext) {
    super({ host: "127.0.0.1", port });
    this.port = port;
    this.#test = test;
  }

  /** The room's token in the jar. */
  token(room = "main"): string | undefined {
    return this.cookies.get(`fairgate_${room}`);
  }

  /** Opens a page and tells whether it was the site's. */
  async isIn(path = "/"): Promise<boolean> {
    return (await this.open(path)).text === "the site";
  }

  /** Listens to the room's events until the test ends or the gateway hangs up. */
  async listen(room = "main", headers: OutgoingHttpHeaders = {}): Promise<EventReader> {
    const reader = new EventReader();
    const hangUp = new AbortController();
    this.#test.after(() => hangUp.abort());
    reader.hangUp = () => hangUp.abort();
    const response = await this.begin(`/.fairgate/${room}/events`, { headers, signal: hangUp.signal });
    reader.status = response.statusCode!;
    reader.headers = response.headers;
    response.setEncoding("utf8");
    response.on("data", (text: string) => reader.read(text)).on("error", () => {});
    response.on("close", () => {
      reader.isOver = true;
    });
    return reader;
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

  /** Waits until this many events of this name have arrived. */
  heard(name: string, times = 1): Promise<void> {
    return until(() => this.count(name) >= times, `${times} "${name}" events`);
  }
}

export function assertWaitingPage(answer: HttpAnswer, status = 200): void {
  assert.equal(answer.status, status);
  assert.match(answer.headers["content-type"] ?? "", /^text\/html/);
  assert.match(answer.text, /fairgate-data/);
  assert.equal(answer.headers["cache-control"], "no-store");
}
