/**
 * Honest visitors during a siege. Some are on the site and ask for a page again and again, some stand in the line and
 * check in when they are told to. Every answer that is not what an honest visitor should get is written down, and how
 * long each page took.
 */
import http from "node:http";
import https from "node:https";
import { SITE_WORDS } from "./site.ts";
import { type Answer, ask, cookieOf, type Server } from "./wire.ts";

/** How soon it is seen that something has come about. */
const LOOK_EVERY_MS = 20;

export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
  readonly pages: number;
}

interface Gateway extends Server {
  readonly room: string;
  readonly path: string;
  /** Between two pages of one visitor. */
  readonly thinkMs: number;
}

export class HonestVisitors {
  /** What went wrong for an honest visitor. */
  readonly complaints: string[] = [];
  readonly #gateway: Gateway;
  readonly #visitors: { readonly from: string; readonly agent: http.Agent; cookie: string }[] = [];
  #took: number[] = [];
  #isOver = false;
  #lives: Promise<void>[] = [];

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /** Lets `onSite` visitors in, one after the other, then `waiting` into the line, and starts their lives. */
  async arrive({ onSite, waiting }: { onSite: number; waiting: number }): Promise<void> {
    for (let n = 0; n < onSite + waiting; n++) {
      const visitor = { from: `127.0.1.${n + 1}`, agent: newAgent(this.#gateway), cookie: "" };
      const answer = await this.#ask(visitor, {});
      const isIn = answer.text.includes(SITE_WORDS);
      if (isIn !== n < onSite) throw new Error(`honest visitor ${n}: ${isIn ? "was let in" : "has to wait"}`);
      this.#visitors.push(visitor);
      this.#lives.push(isIn ? this.#browse(n) : this.#wait(n));
    }
  }

  /** Begins to measure anew, and resolves once there are this many pages. */
  async measure(pages: number): Promise<void> {
    this.#took = [];
    while (this.#took.length < pages && !this.#isOver) await pause(LOOK_EVERY_MS);
  }

  /** The times of all pages since `measure` was last called. */
  latency(): Latency {
    const took = this.#took.toSorted((a, b) => a - b);
    const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
    return { p50: at(0.5), p99: at(0.99), slowest: at(1), pages: took.length };
  }

  async leave(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lives);
    for (const { agent } of this.#visitors) agent.destroy();
  }

  async #browse(n: number): Promise<void> {
    while (!this.#isOver) {
      const startedAt = performance.now();
      const answer = await this.#try(n, {});
      this.#took.push(performance.now() - startedAt);
      if (answer && !answer.text.includes(SITE_WORDS)) this.#complain(n, "did not get the page", answer);
      await pause(this.#gateway.thinkMs);
    }
  }

  async #wait(n: number): Promise<void> {
    const checkIn = { method: "POST", path: `/.fairgate/${this.#gateway.room}/check-in` };
    while (!this.#isOver) {
      const answer = await this.#try(n, checkIn);
      const told = answer
        ? (JSON.parse(answer.text || "{}") as { status?: string; nextCheckInMs?: number })
        : {};
      if (answer && told.status !== "waiting") this.#complain(n, "lost the place", answer);
      const endAt = Date.now() + (told.nextCheckInMs ?? 1_000);
      while (!this.#isOver && Date.now() < endAt) await pause(LOOK_EVERY_MS);
    }
  }

  async #try(n: number, asking: object): Promise<Answer | null> {
    try {
      return await this.#ask(this.#visitors[n]!, asking);
    } catch (error) {
      this.complaints.push(`visitor ${n}: ${(error as Error).message}`);
      return null;
    }
  }

  async #ask(visitor: { from: string; agent: http.Agent; cookie: string }, asking: object): Promise<Answer> {
    const answer = await ask(this.#gateway, {
      path: this.#gateway.path,
      headers: { accept: "text/html", ...(visitor.cookie ? { cookie: visitor.cookie } : {}) },
      agent: visitor.agent,
      localAddress: visitor.from,
      ...asking,
    });
    visitor.cookie = cookieOf(answer) ?? visitor.cookie;
    return answer;
  }

  #complain(n: number, what: string, { status, text }: Answer): void {
    this.complaints.push(`visitor ${n} ${what}: ${status} ${text.slice(0, 120)}`);
  }
}

function newAgent({ isTls }: Server): http.Agent {
  return isTls
    ? new https.Agent({ keepAlive: true, rejectUnauthorized: false })
    : new http.Agent({ keepAlive: true });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
