/**
 * One request over HTTP to a gateway that may die at any instant: an answer, or null for none. Without an answer nobody knows
 * whether the request was processed.
 */
import { Agent } from "node:http";
import { ask, type HttpAsking } from "../../src/visitor/ask.ts";

/**
 * For a gateway that is suspended; one that dies fails at once. It is longer than a slow machine takes to answer: a visitor who
 * asks again too early has two requests under way, and the first may be processed after the second.
 */
const PATIENCE_MS = 60_000;

export interface Question {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

export interface Answer {
  /** The gateway that answered. */
  readonly address: string;
  readonly status: number;
  readonly text: string;
  /** The cookie it set, name and value; null for none. */
  readonly cookie: string | null;
  /** The body parsed as JSON; an empty object when it is something else. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly askedAt: number;
  readonly at: number;
}

export interface Asks {
  ask(question: Question): Promise<Answer | null>;
  /** Asks every gateway the same; returns the answers that came. */
  askAll(question: Question): Promise<Answer[]>;
  close(): void;
}

/** Asks one gateway, over connections that stay open. */
export class Asker implements Asks {
  readonly #address: string;
  readonly #agent: Agent;
  readonly #patienceMs: number;

  constructor(address: string, connectionsMax: number, patienceMs = PATIENCE_MS) {
    this.#address = new URL(address).origin;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
    this.#patienceMs = patienceMs;
  }

  async ask({ method, path, body, headers }: Question): Promise<Answer | null> {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const asking: HttpAsking = {
      ...{ method, path, agent: this.#agent, patienceMs: this.#patienceMs },
      headers: { accept: "application/json", ...type, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    const askedAt = Date.now();
    const answer = await ask(this.#address, asking).catch(() => null);
    if (!answer) return null;
    const { status, text, cookie } = answer;
    const isJson = answer.headers["content-type"]?.includes("json") === true;
    const json = isJson ? JSON.parse(text || "{}") : {};
    return { address: this.#address, status, text, cookie, json, askedAt, at: Date.now() };
  }

  async askAll(question: Question): Promise<Answer[]> {
    const answer = await this.ask(question);
    return answer ? [answer] : [];
  }

  close(): void {
    this.#agent.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Several gateways in front of one line: each request goes to a random one. */
export class Askers implements Asks {
  readonly #askers: readonly Asker[];
  readonly #fraction: () => number;

  constructor(askers: readonly Asker[], fraction: () => number) {
    this.#askers = askers;
    this.#fraction = fraction;
  }

  ask(question: Question): Promise<Answer | null> {
    return this.#askers[Math.floor(this.#fraction() * this.#askers.length)]!.ask(question);
  }

  async askAll(question: Question): Promise<Answer[]> {
    return (await Promise.all(this.#askers.map((asker) => asker.askAll(question)))).flat();
  }

  close(): void {
    for (const asker of this.#askers) asker.close();
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
