/**
 * A visitor over HTTP: keeps cookies as a browser would, opens pages, uses the room's own endpoints, and checks in when
 * told to. The demo's crowd, tests and benches send these. It ships in the package for the demo alone, which is why it is
 * here and not in `testing`; it asks no clock, and waits as its caller has it wait.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { begin, type HttpAnswer, type HttpAsking, type HttpServer, readAnswer, serverAt } from "./ask.ts";

/** The headers with which a browser loads a page. */
export const PAGE = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "sec-fetch-dest": "document",
  "sec-fetch-mode": "navigate",
  "sec-fetch-site": "none",
};

/** What the room's endpoints answer. */
export interface EndpointWords {
  readonly status?: string;
  readonly reason?: string;
  readonly sequence?: number;
  readonly ahead?: number;
  readonly waiting?: number;
  readonly nextCheckInMs?: number;
  readonly expiresInMs?: number;
  readonly claimByMs?: number;
  readonly missedTurns?: number;
  readonly formerPlace?: string;
  readonly error?: string;
}

export interface EndpointOptions {
  /** The default is "main". */
  readonly room?: string;
  readonly headers?: OutgoingHttpHeaders;
}

/** A request but for its path. */
export type VisitorAsking = Omit<HttpAsking, "path" | "headers"> & { readonly headers?: OutgoingHttpHeaders };

export class HttpVisitor {
  /** The jar: values by name. */
  readonly cookies = new Map<string, string>();
  #server: HttpServer;
  readonly #always: VisitorAsking;

  /** `always` goes with every request: an agent, an address to come from, headers. */
  constructor(at: HttpServer | string, always: VisitorAsking = {}) {
    this.#server = typeof at === "string" ? serverAt(at) : at;
    this.#always = always;
  }

  /** Goes to another gateway from now on. */
  set address(address: string) {
    this.#server = serverAt(address);
  }

  /** The jar as a request sends it; empty before the first visit. */
  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  set cookie(pairs: string) {
    this.cookies.clear();
    this.keep(pairs === "" ? [] : pairs.split("; "));
  }

  /** Takes Set-Cookie values into the jar. */
  keep(setCookies: readonly string[]): void {
    for (const line of setCookies) {
      const [pair] = line.split(";", 1) as [string];
      const [name] = pair.split("=", 1) as [string];
      if (/max-age=0/i.test(line.slice(pair.length))) this.cookies.delete(name);
      else this.cookies.set(name, pair.slice(name.length + 1));
    }
  }

  /** Opens a page. */
  open(path = "/", headers: OutgoingHttpHeaders = {}): Promise<HttpAnswer> {
    return this.ask(path, { headers: { ...PAGE, ...headers } });
  }

  /** What one of the room's endpoints tells, asked with POST. */
  async call(endpoint: string, options: EndpointOptions = {}): Promise<EndpointWords> {
    return JSON.parse((await this.post(endpoint, options)).text) as EndpointWords;
  }

  post(endpoint: string, { room = "main", headers = {} }: EndpointOptions = {}): Promise<HttpAnswer> {
    return this.ask(`/.fairgate/${room}/${endpoint}`, { method: "POST", headers });
  }

  /**
   * Checks in, and again whenever told to, and yields each answer; the last one is the first that is not about waiting.
   * Its turn, then, or the end of its place. `pause` is how it waits in between.
   */
  async *checkIns(
    pause: (ms: number) => Promise<void>,
    options: EndpointOptions = {},
  ): AsyncGenerator<EndpointWords> {
    for (;;) {
      const told = await this.call("check-in", options);
      yield told;
      if (told.status !== "waiting") return;
      await pause(told.nextCheckInMs!);
    }
  }

  async ask(path: string, asking: VisitorAsking = {}): Promise<HttpAnswer> {
    return readAnswer(await this.begin(path, asking));
  }

  /** The same, for callers who read the body as it comes. */
  async begin(path: string, asking: VisitorAsking = {}): Promise<IncomingMessage> {
    const { cookie } = this;
    const headers = { ...this.#always.headers, ...(cookie && { cookie }), ...asking.headers };
    const response = await begin(this.#server, { ...this.#always, ...asking, path, headers });
    this.keep(response.headers["set-cookie"] ?? []);
    return response;
  }
}
