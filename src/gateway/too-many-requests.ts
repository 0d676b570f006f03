/**
 * What someone gets who has too many requests under way: 429 with word when to try again, as a page, as JSON or as a
 * line, whatever they asked for. There may be thousands of these a second, so the log gets a line a second at most. Over
 * HTTP/1 the connection is closed with it: whoever sends requests one behind the other without end is rid of the rest.
 */
import type { Duplex } from "node:stream";
import type { World } from "../core/world.ts";
import { entryOf } from "./access-log/entry.ts";
import { headerOf, type Request, type Response } from "./exchange.ts";
import { PacedLog } from "./paced-log.ts";
import { prefersJson, renderProblem } from "./page/problem.ts";
import { answerWhole } from "./proxy/answer.ts";
import { answerRaw } from "./proxy/raw-answer.ts";
import type { Over } from "./requests-under-way.ts";
import type { Traffic } from "./traffic.ts";

const TOO_MANY = 429;
/** Most requests are over within seconds. */
const RETRY_SECONDS = 5;
const LINE = Buffer.from("Too many requests under way. Try again in a moment.\n");
const RETRY_AFTER: readonly string[] = ["Retry-After", String(RETRY_SECONDS)];
const TEXT: readonly string[] = ["Content-Type", "text/plain; charset=utf-8"];
const PLAIN: readonly string[] = [...TEXT, "Cache-Control", "no-store"];
/** Where requests of a whole proxy are refused, this is what its operator forgot. */
const HINTS: Readonly<Record<Over, string>> = {
  visitor: "one visitor has too many requests under way",
  address:
    "one address has too many requests under way; if it is a proxy of yours, name it in trustedProxies",
};

export class TooManyRequests {
  readonly #traffic: Traffic;
  readonly #world: World;
  readonly #log: PacedLog;

  constructor(traffic: Traffic, world: World) {
    this.#traffic = traffic;
    this.#world = world;
    this.#log = new PacedLog(world);
  }

  /** `headers`: what the visitor gets anyway, such as a renewed pass. */
  refuse(
    request: Request,
    response: Response,
    why: { readonly over: Over; readonly address: string; readonly headers: readonly string[] },
  ): void {
    entryOf(response)?.decide("tooMany");
    this.#note(why.over, why.address);
    const { accept } = request.headers;
    const isLine = !prefersJson(accept) && !accept?.includes("text/html");
    const { headers, body } = isLine ? { headers: PLAIN, body: LINE } : problem(request);
    const { timers } = this.#world;
    const all = [...headers, ...RETRY_AFTER, ...why.headers];
    answerWhole(request, response, { status: TOO_MANY, headers: all, body, isLast: true, timers });
  }

  refuseUpgrade(socket: Duplex, over: Over, address: string): void {
    entryOf(socket)?.decide("tooMany");
    this.#note(over, address);
    answerRaw(socket, { status: TOO_MANY, headers: [...TEXT, ...RETRY_AFTER], body: LINE });
  }

  #note(over: Over, address: string): void {
    this.#traffic.count("requestsRefused", over);
    const fields = { code: "TOO_MANY_REQUESTS", address };
    this.#log.add({ level: "warn", about: "", fields, message: HINTS[over] });
  }
}

function problem(request: Request): ReturnType<typeof renderProblem> {
  const { accept } = request.headers;
  return renderProblem(accept, headerOf(request, "accept-language"), {
    status: TOO_MANY,
    id: "",
    kind: "tooManyRequests",
    retryAfterSeconds: RETRY_SECONDS,
  });
}
