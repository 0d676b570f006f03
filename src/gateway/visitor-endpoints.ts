/**
 * What a waiting page or a program may ask for under `/.fairgate/<room>/`:
 *
 *   GET  board      the room's public state, the same bytes for everyone
 *   GET  events     the same as a stream, and word of your own turn
 *   POST join       a place, or straight in; asking again keeps what you have
 *   POST check-in   "I am still here"; early ones get the last answer again
 *   POST enter      use your turn: the ticket becomes a pass
 *   POST leave      give up your place or your visit
 *
 * Requests from other sites are refused, whatever the cookie's SameSite says.
 */
import type { Engine, JoinAnswer, TicketAnswer, Waiting } from "../core/engine.ts";
import { tellAhead } from "../core/ticket.ts";
import type { Timers } from "../core/world.ts";
import { type AskEngine, type Away, ENGINE_AWAY } from "./ask-engine.ts";
import type { Carrier } from "./carrier.ts";
import type { EventStreams } from "./event-streams.ts";
import { PERSONAL_JSON, type Request, type Response, send, sendWhole } from "./exchange.ts";
import type { Held, HeldTicket } from "./held-tokens.ts";
import { discardRest, hasBody } from "./proxy/answer.ts";
import type { RoomFront } from "./room-front.ts";
import type { Traffic } from "./traffic.ts";
import type { VisitorTokens } from "./visitor-tokens.ts";

export type Endpoint = "board" | "events" | "join" | "check-in" | "enter" | "leave";

const METHODS: Readonly<Record<Endpoint, "GET" | "POST">> = {
  board: "GET",
  events: "GET",
  join: "POST",
  "check-in": "POST",
  enter: "POST",
  leave: "POST",
};
export const ENDPOINTS = Object.keys(METHODS) as readonly Endpoint[];
const RETRY_SECONDS = 5;
/** A check-in that comes before this share of the time it was told is answered from the last answer. */
const EARLY_SHARE = 0.5;
const NOTHING: readonly string[] = [];
const NOT_HELD = '{"status":"refused","reason":"noTicket"}';

/** One visitor's call. */
export interface Call {
  readonly front: RoomFront;
  readonly request: Request;
  readonly response: Response;
  readonly carrier: Carrier;
  readonly now: number;
}

export class VisitorEndpoints {
  readonly #engine: Engine;
  readonly #ask: AskEngine;
  readonly #tokens: VisitorTokens;
  readonly #streams: EventStreams;
  readonly #traffic: Traffic;
  readonly #timers: Timers;

  constructor(parts: {
    engine: Engine;
    ask: AskEngine;
    tokens: VisitorTokens;
    streams: EventStreams;
    traffic: Traffic;
    timers: Timers;
  }) {
    this.#engine = parts.engine;
    this.#ask = parts.ask;
    this.#tokens = parts.tokens;
    this.#streams = parts.streams;
    this.#traffic = parts.traffic;
    this.#timers = parts.timers;
  }

  serve(endpoint: Endpoint, call: Call): void {
    const method = METHODS[endpoint];
    const asked = call.request.method === "HEAD" && endpoint === "board" ? "GET" : call.request.method;
    if (asked !== method) return answer(call, 405, { error: `use ${method}` }, ["Allow", method]);
    if (endpoint === "board") return this.sendBoard(call.front, call.response);
    if (call.carrier.fetchSite === "cross-site") return answer(call, 403, { error: "not from another site" });
    // Nothing here takes a body; one that comes all the same is read for a while and then cut off.
    if (hasBody(call.request)) discardRest(call.request, call.response, this.#timers);
    const held = this.#tokens.read(call.front, call.carrier, call.now);
    switch (endpoint) {
      case "events":
        return this.#events(call, held);
      case "join":
        return this.#join(call, held);
      case "check-in":
        return this.#checkIn(call, held);
      case "enter":
        return this.#enter(call, held);
      case "leave":
        return this.#leave(call, held);
    }
  }

  /** The board alone: nothing of the request matters but its address. */
  sendBoard(front: RoomFront, response: Response): void {
    this.#traffic.requests.boards++;
    sendWhole(response, 200, front.boardHeaders, front.boardBody, "latin1");
  }

  #events(call: Call, held: Held | null): void {
    if (held?.kind !== "ticket") return answer(call, 403, { status: "refused", reason: "noTicket" });
    const { front, carrier, request, response, now } = call;
    const given = this.#tokens.refreshTicket(front, held, carrier, now) ?? { held, headers: NOTHING };
    if (this.#streams.open({ ...given, board: front.board, request, response })) return;
    answer(call, 503, { error: "too many streams; read the board" }, ["Retry-After", String(RETRY_SECONDS)]);
  }

  #join(call: Call, held: Held | null): void {
    if (held?.kind === "pass") return answer(call, 200, entered(held.pass.expiresAt - call.now));
    if (held) return this.#checkIn(call, held, () => this.#join(call, null));
    this.#traffic.requests.joins++;
    this.#ask.ask(
      () => this.#engine.join(call.front.name),
      (reply) => this.#tell(call, reply, null),
    );
  }

  /** `orElse` is for a ticket that is spent or has run out. */
  #checkIn(call: Call, held: Held | null, orElse?: () => void): void {
    this.#traffic.requests.checkIns++;
    if (held?.kind === "pass") return answer(call, 200, entered(held.pass.expiresAt - call.now));
    if (!held) return send(call.response, 403, PERSONAL_JSON, NOT_HELD);
    if (held.lastAnswer !== null && call.now < held.nextCheckInAt) {
      return sendAscii(call.response, held.lastAnswer);
    }
    this.#ask.ask(
      () => this.#engine.checkIn(held.ticket),
      (reply) => this.#tell(call, reply, held, orElse),
    );
  }

  #enter(call: Call, held: Held | null): void {
    this.#traffic.requests.enters++;
    if (held?.kind === "pass") return answer(call, 200, entered(held.pass.expiresAt - call.now));
    if (!held) return send(call.response, 403, PERSONAL_JSON, NOT_HELD);
    this.#ask.ask(
      () => this.#engine.enter(held.ticket),
      (reply) => this.#tell(call, reply, held),
    );
  }

  #leave(call: Call, held: Held | null): void {
    this.#traffic.requests.leaves++;
    const place = held?.kind === "pass" ? held.pass : held?.ticket;
    if (held?.kind === "ticket") held.lastAnswer = null;
    this.#ask.ask(
      () => (place ? this.#engine.leave(place) : undefined),
      (reply) => {
        if (reply === ENGINE_AWAY) return this.#away(call);
        answer(call, 200, { status: "left" }, this.#tokens.drop(call.front, call.carrier));
      },
    );
  }

  /** Says what became of a ticket, and hands out what goes with it. */
  #tell(
    call: Call,
    reply: JoinAnswer | TicketAnswer | Away,
    held: HeldTicket | null,
    orElse?: () => void,
  ): void {
    if (reply === ENGINE_AWAY) return this.#away(call);
    switch (reply.kind) {
      case "waiting":
        return this.#tellWaiting(call, reply, held);
      case "admitted":
        return answer(call, 200, { status: "admitted", claimByMs: Math.max(0, reply.claimBy - call.now) });
      case "entered": {
        const { headers } = this.#tokens.givePass(call.front, reply.pass, call.carrier);
        return answer(call, 200, entered(reply.pass.expiresAt - call.now), headers);
      }
      case "expired":
      case "refused":
        this.#tokens.refuseTicket(reply, call.front, call.now);
        if (orElse) return orElse();
        return answer(call, 200, {
          status: reply.kind,
          ...(reply.kind === "refused" && { reason: reply.reason }),
        });
    }
  }

  #tellWaiting(call: Call, reply: Waiting, held: HeldTicket | null): void {
    const { front, carrier, now } = call;
    let headers: readonly string[] = NOTHING;
    if (held === null) {
      const given = this.#tokens.giveTicket(front, tellAhead(reply.ticket, reply.ahead), carrier);
      headers = given.headers;
      held = given.held;
    } else {
      if (reply.ahead < held.ticket.aheadShown) held.ticket = tellAhead(held.ticket, reply.ahead);
      headers = this.#tokens.refreshTicket(front, held, carrier, now)?.headers ?? NOTHING;
    }
    const body = front.waitingJson(reply, held.opening);
    held.lastAnswer = body;
    held.nextCheckInAt = now + reply.nextCheckInMs * EARLY_SHARE;
    sendAscii(call.response, body, headers);
  }

  #away(call: Call): void {
    answer(call, 503, { status: "engineAway" }, ["Retry-After", String(RETRY_SECONDS)]);
  }
}

function entered(leftMs: number): { status: "entered"; expiresInMs: number } {
  return { status: "entered", expiresInMs: Math.max(0, leftMs) };
}

/** The busiest answer: a waiting visitor's JSON, known to be ASCII. */
function sendAscii(response: Response, body: string, headers: readonly string[] = NOTHING): void {
  const length = String(body.length);
  // Written out rather than spread: this is the busiest line of all.
  const whole = [
    "Content-Type",
    "application/json; charset=utf-8",
    "Cache-Control",
    "no-store",
    "X-Content-Type-Options",
    "nosniff",
    "Content-Length",
    length,
  ];
  if (headers.length > 0) whole.push(...headers);
  sendWhole(response, 200, whole, body, "latin1");
}

function answer(call: Call, status: number, body: object, headers: readonly string[] = []): void {
  send(call.response, status, [...PERSONAL_JSON, ...headers], JSON.stringify(body));
}
