/**
 * A browser as far as `fairgate/client` uses one, moved by hand: requests wait for the test's answers, event streams carry what the
 * test sends, and time passes when the test lets it.
 */
import type { ClientMachine, ClientOptions } from "../../client.ts";
import { handWorld } from "../../sim/hand-world.ts";

export interface Asked {
  /** Such as `POST join`. */
  readonly what: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly atMs: number;
}

/** What a request gets: a body, with a status if it is not 200; or nothing at all. */
export type HandAnswer = { readonly status?: number; readonly body: unknown } | "network" | "html";

export class HandStream {
  readyState = 0;
  onerror: (() => void) | null = null;
  readonly url: string;
  readonly #listeners = new Map<string, (event: { data: string }) => void>();

  constructor(url: string) {
    this.url = url;
  }

  addEventListener(name: string, listener: (event: { data: string }) => void): void {
    this.#listeners.set(name, listener);
  }

  close(): void {
    this.readyState = 2;
  }

  send(name: string, news: unknown): void {
    this.readyState = 1;
    this.#listeners.get(name)?.({ data: JSON.stringify(news) });
  }

  /** The connection is lost, and the browser tries again; or it was refused. */
  fail(isRefused = false): void {
    this.readyState = isRefused ? 2 : 0;
    this.onerror?.();
  }
}

export class HandBrowser {
  readonly asked: Asked[] = [];
  readonly streams: HandStream[] = [];
  readonly #world = handWorld({ dice: () => 0.5 });
  readonly #startedAt = this.#world.clock.now();
  readonly #answer: (asked: Asked) => HandAnswer | Promise<HandAnswer>;

  constructor(answer: (asked: Asked) => HandAnswer | Promise<HandAnswer>) {
    this.#answer = answer;
  }

  /** Without `hasStreams` it has no EventSource. */
  options({ hasStreams = true } = {}): ClientOptions {
    const { clock, timers, random } = this.#world;
    const { streams } = this;
    const machine = {
      setTimeout: (work: () => void, ms: number) => timers.after(ms, work),
      clearTimeout: (stop?: () => void) => stop?.(),
      Date: { now: clock.now },
      Math: { random: random.fraction },
      EventSource: hasStreams
        ? class extends HandStream {
            constructor(url: string) {
              super(url);
              streams.push(this);
            }
          }
        : undefined,
    };
    return {
      room: "main",
      base: "https://shop.example",
      fetch: (url, init) => this.#fetch(String(url), init ?? {}),
      machine: machine as unknown as ClientMachine,
    };
  }

  get now(): number {
    return this.#world.clock.now();
  }

  get stream(): HandStream {
    return this.streams.at(-1)!;
  }

  /** Every request so far, and none of them in what is given next. */
  take(): string[] {
    return this.asked.splice(0).map(({ what }) => what);
  }

  /** Lets time pass in steps, and what it starts go on. */
  async pass(ms: number): Promise<void> {
    await this.settle();
    for (let left = ms; left > 0; left -= 100) {
      this.#world.pass(Math.min(100, left));
      await this.settle();
    }
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  async #fetch(url: string, { method = "GET", headers, body, signal }: RequestInit): Promise<Response> {
    signal?.throwIfAborted();
    const asked: Asked = {
      what: `${method} ${url.replace("https://shop.example/.fairgate/main/", "")}`,
      headers: headers as Record<string, string>,
      body: typeof body === "string" ? JSON.parse(body) : body,
      atMs: this.#world.clock.now() - this.#startedAt,
    };
    this.asked.push(asked);
    const gone = new Promise<never>((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
    const answer = await Promise.race([this.#answer(asked), gone]);
    if (answer === "network") throw new TypeError("Failed to fetch");
    if (answer === "html") return new Response("<html>", { status: 502 });
    return Response.json(answer.body, { status: answer.status ?? 200 });
  }
}
