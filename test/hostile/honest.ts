/**
 * Honest visitors during a siege. Some are on the site and ask for a page again and again; some are in the line and check in when
 * they are told to. Every answer that an honest visitor should not get is recorded, and how long each page took.
 */
import http from "node:http";
import https from "node:https";
import type { HttpAnswer, HttpServer } from "../../src/visitor/ask.ts";
import { type EndpointWords, HttpVisitor, type VisitorAsking } from "../../src/visitor/http-visitor.ts";
import { SITE_WORDS } from "./site.ts";

/** How soon a change is noticed. */
const LOOK_EVERY_MS = 20;

export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
  readonly pages: number;
}

interface Gateway extends HttpServer {
  readonly room: string;
  /** The page that they ask for. */
  readonly path: string;
  /** The pause between two pages of one visitor. */
  readonly thinkMs: number;
}

export class HonestVisitors {
  /** What went wrong for honest visitors. */
  readonly complaints: string[] = [];
  readonly #gateway: Gateway;
  readonly #visitors: HttpVisitor[] = [];
  readonly #agents: http.Agent[] = [];
  #took: number[] = [];
  #isOver = false;
  #lives: Promise<void>[] = [];

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /** Lets `onSite` visitors in, one after the other, then `waiting` into the line, and starts their loops. */
  async arrive({ onSite, waiting }: { onSite: number; waiting: number }): Promise<void> {
    for (let n = 0; n < onSite + waiting; n++) {
      const agent = newAgent(this.#gateway);
      const headers = { accept: "text/html" };
      const visitor = new HttpVisitor(this.#gateway, { agent, headers, localAddress: `127.0.1.${n + 1}` });
      this.#agents.push(agent);
      const answer = await visitor.ask(this.#gateway.path);
      const isIn = answer.text.includes(SITE_WORDS);
      if (isIn !== n < onSite) throw new Error(`honest visitor ${n}: ${isIn ? "was let in" : "has to wait"}`);
      this.#visitors.push(visitor);
      this.#lives.push(isIn ? this.#browse(n) : this.#wait(n));
    }
  }

  /** Starts a new measurement, and resolves once it has this many pages. */
  async measure(pages: number): Promise<void> {
    this.#took = [];
    while (this.#took.length < pages && !this.#isOver) await pause(LOOK_EVERY_MS);
  }

  /** The times of all pages since the last call of `measure`. */
  latency(): Latency {
    const took = this.#took.toSorted((a, b) => a - b);
    const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
    return { p50: at(0.5), p99: at(0.99), slowest: at(1), pages: took.length };
  }

  async leave(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lives);
    for (const agent of this.#agents) agent.destroy();
  }

  async #browse(n: number): Promise<void> {
    while (!this.#isOver) {
      const startedAt = performance.now();
      const answer = await this.#try(n, this.#gateway.path);
      this.#took.push(performance.now() - startedAt);
      if (answer && !answer.text.includes(SITE_WORDS)) this.#complain(n, "did not get the page", answer);
      await pause(this.#gateway.thinkMs);
    }
  }

  async #wait(n: number): Promise<void> {
    const path = `/.fairgate/${this.#gateway.room}/check-in`;
    while (!this.#isOver) {
      const answer = await this.#try(n, path, { method: "POST" });
      const told = JSON.parse(answer?.text || "{}") as EndpointWords;
      if (answer && told.status !== "waiting") this.#complain(n, "lost the place", answer);
      const endAt = Date.now() + (told.nextCheckInMs ?? 1_000);
      while (!this.#isOver && Date.now() < endAt) await pause(LOOK_EVERY_MS);
    }
  }

  async #try(n: number, path: string, asking: VisitorAsking = {}): Promise<HttpAnswer | null> {
    try {
      return await this.#visitors[n]!.ask(path, asking);
    } catch (error) {
      this.complaints.push(`visitor ${n}: ${(error as Error).message}`);
      return null;
    }
  }

  #complain(n: number, what: string, { status, text }: HttpAnswer): void {
    this.complaints.push(`visitor ${n} ${what}: ${status} ${text.slice(0, 120)}`);
  }
}

function newAgent({ tls }: HttpServer): http.Agent {
  return tls ? new https.Agent({ keepAlive: true, ...tls }) : new http.Agent({ keepAlive: true });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
