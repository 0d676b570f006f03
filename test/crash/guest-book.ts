/**
 * The site behind the gateway, with a book of its own: it tells each visitor what it was told about them, and records when it saw
 * each name first and last. Between the two that visitor was on the site. How many were there at once is known by this book
 * alone.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Stay {
  readonly from: number;
  to: number;
}

export class GuestBook {
  readonly stays = new Map<string, Stay>();
  readonly #server: Server;

  static async open(): Promise<GuestBook> {
    const book = new GuestBook();
    book.#server.listen(0, "127.0.0.1");
    await once(book.#server, "listening");
    return book;
  }

  private constructor() {
    // The site never closes a connection first: a gateway may be about to use it.
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      const { "fairgate-visitor": visitor = "" } = request.headers;
      if (visitor !== "") this.#see(String(visitor), Date.now());
      const joinedAt = Date.parse(String(request.headers["fairgate-joined-at"]));
      const admittedAt = Date.parse(String(request.headers["fairgate-admitted-at"]));
      const body = JSON.stringify({ site: true, visitor, joinedAt, admittedAt });
      response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" }).end(body);
    });
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  highestAtOnce(): number {
    return highestAtOnce([...this.stays.values()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  #see(visitor: string, now: number): void {
    const stay = this.stays.get(visitor);
    if (stay) stay.to = now;
    else this.stays.set(visitor, { from: now, to: now });
  }
}

/** The most stays that overlap at one instant. A visitor who leaves in the millisecond in which another comes makes room. */
export function highestAtOnce(stays: readonly Stay[]): number {
  const steps = stays.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: Math.max(to, from + 1), by: -1 },
  ]);
  steps.sort((a, b) => a.at - b.at || a.by - b.by);
  let now = 0;
  let highest = 0;
  for (const { by } of steps) {
    now += by;
    highest = Math.max(highest, now);
  }
  return highest;
}
