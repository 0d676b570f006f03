/**
 * What someone gets who must wait, at the address they asked for: the page, JSON, a plain line, or the page with word
 * that their form was not sent. And the same while the engine is away.
 */
import type { Waiting } from "../core/engine.ts";
import { AHEAD_UNKNOWN } from "../core/ticket.ts";
import type { World } from "../core/world.ts";
import { type WaitingAnswer, waitingAnswer } from "./decide.ts";
import { headerOf, PERSONAL_JSON, type Request, type Response } from "./exchange.ts";
import { answerWhole } from "./proxy/answer.ts";
import { type RoomFront, waitingOpening } from "./room-front.ts";
import type { Traffic } from "./traffic.ts";

const TOO_MANY = 429;
const AWAY = 503;
const NOT_YET = "Waiting room: it is not your turn yet.\n";
const NOT_REACHED = "Waiting room: the line cannot be reached just now.\n";
const AWAY_RETRY_SECONDS = 10;
const NONCE_BYTES = 16;
const PLAIN_TEXT: readonly string[] = [
  "Content-Type",
  "text/plain; charset=utf-8",
  "Cache-Control",
  "no-store",
  "X-Content-Type-Options",
  "nosniff",
];

/** Which kind of answer this request should get while it waits. */
export function answerKind(front: RoomFront, request: Request): WaitingAnswer {
  const words = {
    method: request.method ?? "GET",
    accept: request.headers.accept,
    fetchDestination: headerOf(request, "sec-fetch-dest"),
  };
  return waitingAnswer(words, front.settings.jsonResponseEnabled);
}

/** One visitor to be told to wait. */
export interface Told {
  readonly front: RoomFront;
  readonly request: Request;
  readonly response: Response;
  /** Flat list: the ticket to hand out. */
  readonly headers: readonly string[];
  /** The sequence of the place they hold; below 0 when they hold none. */
  readonly sequence: number;
}

export class WaitingAnswers {
  readonly #traffic: Traffic;
  readonly #world: World;

  constructor(traffic: Traffic, world: World) {
    this.#traffic = traffic;
    this.#world = world;
  }

  /** Tells a visitor in the line to wait. */
  wait(told: Told, kind: WaitingAnswer, waiting: Waiting): void {
    const retryAfter = ["Retry-After", String(Math.ceil(waiting.nextCheckInMs / 1_000))];
    const headers = [...told.headers, ...retryAfter];
    switch (kind) {
      case "json":
        this.#traffic.requests.apiWaits++;
        return this.#send(told, TOO_MANY, [...PERSONAL_JSON, ...headers], this.#json(told.front, waiting));
      case "plain":
        return this.#send(told, TOO_MANY, [...PLAIN_TEXT, ...retryAfter], NOT_YET);
      case "formRefused":
        this.#traffic.requests.refusedForms++;
        return this.#page(told, { status: TOO_MANY, notice: "formNotSent", headers, waiting });
      case "page":
        this.#traffic.requests.waitingPages++;
        return this.#page(told, {
          status: told.front.settings.queueingStatusCode,
          notice: "none",
          headers,
          waiting,
        });
    }
  }

  /** Tells a visitor that the line cannot be reached just now; whatever place they have is kept. */
  away(told: Told, kind: WaitingAnswer): void {
    const headers = [...told.headers, "Retry-After", String(AWAY_RETRY_SECONDS)];
    if (kind === "json")
      return this.#send(told, AWAY, [...PERSONAL_JSON, ...headers], '{"status":"engineAway"}');
    if (kind === "plain") return this.#send(told, AWAY, [...PLAIN_TEXT, ...headers], NOT_REACHED);
    this.#page(told, { status: AWAY, notice: "engineAway", headers, waiting: null });
  }

  #json(front: RoomFront, waiting: Waiting): string {
    const own = `/.fairgate/${front.name}`;
    return `${front.waitingJson(waiting, waitingOpening(waiting.ticket.sequence)).slice(0, -1)},"room":"${front.name}","checkIn":"${own}/check-in","enter":"${own}/enter"}`;
  }

  #page(
    told: Told,
    what: {
      status: number;
      notice: "none" | "engineAway" | "formNotSent";
      headers: string[];
      waiting: Waiting | null;
    },
  ): void {
    const { front, request } = told;
    const { page, board } = front;
    const nextCheckInMs = what.waiting?.nextCheckInMs ?? AWAY_RETRY_SECONDS * 1_000;
    // Without JavaScript the page comes again by itself, as seldom as a check-in; the live script cancels this.
    const refresh = ["Refresh", String(Math.ceil(nextCheckInMs / 1_000))];
    const nonce = Buffer.from(this.#world.random.bytes(NONCE_BYTES)).toString("base64");
    const body = page.render({
      room: front.name,
      language: page.chooseLanguage(request.headers["accept-language"]),
      state: board.state,
      ahead: what.waiting?.ahead ?? AHEAD_UNKNOWN,
      waiting: Math.max(board.waiting, (what.waiting?.ahead ?? -1) + 1),
      waitMs: what.waiting?.waitMs ?? null,
      aheadAtJoin: what.waiting?.ticket.aheadAtJoin ?? null,
      sequence: told.sequence,
      nextCheckInMs,
      now: this.#world.clock.now(),
      message: board.message,
      notice: what.notice,
      nonce,
    });
    const headers = [...page.headers(nonce), "Cache-Control", "no-store", ...refresh, ...what.headers];
    this.#send(told, what.status, headers, body);
  }

  /** What is being uploaded by someone who must wait is not wanted: a little of it is read, so that they get the answer. */
  #send({ request, response }: Told, status: number, headers: string[], body: Buffer | string): void {
    const { timers } = this.#world;
    answerWhole(request, response, { status, headers, body: Buffer.from(body as string), timers });
  }
}
